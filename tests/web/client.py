"""A plain client of the view, which sends exactly what a test says."""

from __future__ import annotations

import http.client
import json
from dataclasses import dataclass, field
from typing import Any

from tests.web.conftest import Web


@dataclass
class Answer:
    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass
class Client:
    web: Web
    cookie: str = ""
    headers: dict[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Answer:
        connection = http.client.HTTPConnection("127.0.0.1", self.web.port, timeout=60)
        sent = {"Host": f"127.0.0.1:{self.web.port}", "Cookie": self.cookie}
        if body is not None:
            sent |= {"Content-Type": "application/json", "Origin": self.web.origin}
        sent |= {name.replace("_", "-"): value for name, value in headers.items()}
        try:
            connection.request(
                method, path, None if body is None else json.dumps(body), {k: v for k, v in sent.items() if v}
            )
            found = connection.getresponse()
            return Answer(found.status, {k.lower(): v for k, v in found.getheaders()}, found.read())
        finally:
            connection.close()

    def get(self, path: str, **headers: str) -> Answer:
        return self.ask("GET", path, **headers)

    def post(self, path: str, body: Any, **headers: str) -> Answer:
        return self.ask("POST", path, body, **headers)

    def enter(self) -> Client:
        answer = self.get(f"/?token={self.web.token}")
        assert answer.status == 303
        self.cookie = answer.headers["set-cookie"].split(";")[0]
        return self

    def unlock(self) -> Client:
        assert self.post("/api/unlock", {"code": self.web.code}).status == 200
        return self
