"""An event that is posted over HTTP, on a connection that stays open as agents keep theirs."""

from __future__ import annotations

import http.client
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from hookline.daemon.http_place import HOST, chosen

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping


def opened(environ: Mapping[str, str]) -> None:
    """The daemon that is started next has the door."""
    chosen(environ)


def posted(environ: Mapping[str, str], payload: bytes) -> Callable[[], int]:
    """One event; gives 0 when it was answered."""
    door = chosen(environ)
    path = urlsplit(door.url("claude-code", "PreToolUse", "user/claude-code", 60)).path
    connection = http.client.HTTPConnection(HOST, door.port, timeout=60)

    def post() -> int:
        connection.request("POST", path, body=payload, headers={"Content-Type": "application/json"})
        response = connection.getresponse()
        response.read()
        return 0 if response.status in {200, 204} else response.status

    return post
