"""The HTTP side: a threading server on loopback that plays a script in every protocol and logs requests."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import threading
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import MappingProxyType
from typing import Any, Protocol, Self, cast

from hookline.llm.scripted import anthropic, gemini, openai_chat, openai_responses
from hookline.llm.scripted.script import ParsedRequest, Request, Script, ScriptedTurn, Source, Step

#: Only headers on this list are logged: whatever a client calls its key, it is not on it.
_LOGGED_HEADERS = frozenset({"content-type", "user-agent", "accept", "anthropic-version", "anthropic-beta"})

#: Not a secret: the clients insist on a key, and the server does not look at it.
_KEY = "scripted-model-server"


class ModelServer:
    """A context manager; ``url`` is where it listens, ``requests`` what it received, in order."""

    def __init__(self, script: Script | Source = (), *, log: str | None = None, port: int = 0) -> None:
        self.script = script if isinstance(script, Script) else Script(script)
        self._log = log
        self._requests: list[Request] = []
        self._lock = threading.Condition()
        self.closing = threading.Event()
        self._http = _Server(("127.0.0.1", port), _Handler)
        self._http.owner = self
        self._thread = threading.Thread(target=self._http.serve_forever, args=(0.02,), daemon=True)

    def start(self) -> Self:
        self._thread.start()
        return self

    def close(self) -> None:
        """Release every hanging request, so that no client and no thread waits."""
        self.closing.set()
        with self._lock:
            self._lock.notify_all()
        if self._thread.is_alive():
            self._http.shutdown()
            self._thread.join()
        self._http.server_close()

    def __enter__(self) -> Self:
        return self.start()

    def __exit__(self, *_error: object) -> None:
        self.close()

    @property
    def port(self) -> int:
        return int(self._http.server_address[1])

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def requests(self) -> tuple[Request, ...]:
        with self._lock:
            return tuple(self._requests)

    def environ(self) -> Mapping[str, str]:
        """The variables through which clients of all providers find this server."""
        return MappingProxyType(
            {
                "OPENAI_BASE_URL": f"{self.url}/v1", "OPENAI_API_KEY": _KEY,
                "ANTHROPIC_BASE_URL": self.url, "ANTHROPIC_API_KEY": _KEY,
                "GOOGLE_GEMINI_BASE_URL": self.url, "GEMINI_API_KEY": _KEY,
                # A proxy from the environment must not interfere.
                "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1",
            }
        )  # fmt: skip

    def wait_for(self, text: str) -> None:
        """Until a request with this text has arrived."""
        with self._lock:
            self._lock.wait_for(lambda: self.closing.is_set() or any(text in one.text for one in self._requests))

    def keep(self, request: Request) -> None:
        with self._lock:
            self._requests.append(request)
            self._lock.notify_all()
            if self._log:
                handle = os.open(self._log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
                with open(handle, "a", encoding="utf-8") as file:
                    file.write(json.dumps(asdict(request), ensure_ascii=False, default=dict) + "\n")


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    owner: ModelServer


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def owner(self) -> ModelServer:
        return cast("_Server", self.server).owner

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the base class names it so
        """Print nothing: the log is in ``requests``."""

    def handle(self) -> None:
        # The client went away: it was cut off at its deadline, which is what some scripts are for.
        with contextlib.suppress(ConnectionError):
            super().handle()

    def do_GET(self) -> None:
        path = self.path.partition("?")[0]
        self.owner.keep(self._request(path, protocol="", body=None, step=-1))
        answer = _answer_query(path, 0)
        self._send(200 if answer is not None else 404, answer or {"error": {"message": "no such path"}})

    def do_POST(self) -> None:
        path, raw = self.path.partition("?")[0], self._body()
        try:
            body = json.loads(raw or b"{}")
        except ValueError:
            body = None
        protocol = _find_protocol(path)
        if protocol is None or not isinstance(body, dict):
            self.owner.keep(self._request(path, protocol="", body=body, step=-1))
            answer = _answer_query(path, len(raw))
            self._send(200 if answer is not None else 404, answer or {"error": {"message": "no such path"}})
            return
        step = self.owner.script.next(json.dumps(body, ensure_ascii=False))
        self.owner.keep(self._request(path, protocol=protocol.NAME, body=body, step=step.number))
        self._play(step, protocol, protocol.parse_request(path, body))

    def _play(self, step: Step, protocol: _WireProtocol, request: ParsedRequest) -> None:
        fields = step.fields
        if fields.get("delay_ms") or fields.get("hang"):
            self.owner.closing.wait(None if fields.get("hang") else float(fields["delay_ms"]) / 1000)
        if "until" in fields:
            self.owner.wait_for(str(fields["until"]))
        if fields.get("hang"):
            self.close_connection = True
        elif "error" in fields:
            status = int(fields["error"].get("status", 500))
            self._send(status, protocol.error(status, str(fields["error"].get("message", "scripted error"))))
        elif "raw" in fields:
            self._send_bytes(200, str(fields["raw"]).encode(), "application/json")
        elif request.stream:
            self._stream(protocol, request, step)
        else:
            self._send(200, protocol.reply(request, self.owner.script.turn(step, request)))

    def _stream(self, protocol: _WireProtocol, request: ParsedRequest, step: Step) -> None:
        events = protocol.stream(request, self.owner.script.turn(step, request))
        if protocol.NAME == "gemini" and "alt=sse" not in self.path:
            self._send(200, [data for _name, data in events])
            return
        self.send_response(200)
        self.send_header("content-type", "text/event-stream")
        self.send_header("connection", "close")
        self.end_headers()
        for name, data in events:
            lines = f"event: {name}\n" if name else ""
            text = data if isinstance(data, str) else json.dumps(data, ensure_ascii=False)
            self.wfile.write(f"{lines}data: {text}\n\n".encode())
            self.wfile.flush()
        self.close_connection = True

    def _request(self, path: str, *, protocol: str, body: Any, step: int) -> Request:
        headers = {name.lower(): value for name, value in self.headers.items() if name.lower() in _LOGGED_HEADERS}
        return Request(method=self.command, path=path, protocol=protocol, headers=headers, body=body, step=step)

    def _body(self) -> bytes:
        if self.headers.get("transfer-encoding", "").lower() == "chunked":
            raw = b"".join(iter(self._chunk, b""))
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        return gzip.decompress(raw) if self.headers.get("content-encoding") == "gzip" else raw

    def _chunk(self) -> bytes:
        size = int(self.rfile.readline().partition(b";")[0] or b"0", 16)
        data = self.rfile.read(size)
        self.rfile.readline()
        return data

    def _send(self, status: int, answer: Any) -> None:
        self._send_bytes(status, json.dumps(answer, ensure_ascii=False).encode(), "application/json")

    def _send_bytes(self, status: int, body: bytes, kind: str) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


class _WireProtocol(Protocol):
    """A module with one provider's formats: pure functions between JSON and the values of ``script``."""

    @property
    def NAME(self) -> str: ...  # noqa: N802  a constant of the module

    def parse_request(self, path: str, body: Mapping[str, Any], /) -> ParsedRequest: ...

    def reply(self, request: ParsedRequest, turn: ScriptedTurn, /) -> Any: ...

    def stream(self, request: ParsedRequest, turn: ScriptedTurn, /) -> Iterable[tuple[str, Any]]:
        """The events of a stream: (event name or "", data). Data that are text are sent as they are."""
        ...

    def error(self, status: int, message: str, /) -> Any: ...


_BY_PATH: tuple[tuple[tuple[str, ...], _WireProtocol], ...] = (
    (("/chat/completions",), openai_chat),
    (("/responses",), openai_responses),
    (("/messages",), anthropic),
    ((":generateContent", ":streamGenerateContent"), gemini),
)


def _find_protocol(path: str) -> _WireProtocol | None:
    """By the end of the path, so that any base URL may come before it."""
    return next((protocol for endings, protocol in _BY_PATH if path.endswith(endings)), None)


def _answer_query(path: str, size: int) -> Any | None:
    """Other requests of clients: how many tokens, which models."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": max(1, size // 4)}
    if path.endswith(":countTokens"):
        return {"totalTokens": max(1, size // 4)}
    if path.endswith("/models"):
        names = {"id": "scripted", "display_name": "scripted", "name": "models/scripted"}
        model = {**names, "object": "model", "type": "model"}
        return {"object": "list", "data": [model], "models": [model], "has_more": False}
    return None
