"""The page and its files: one answer is enough for the first paint, and nothing of it is loaded twice.

The style is in the page, allowed by its digest; scripts are files of their own under an address that changes with their
bytes, so that a browser keeps them. The frame is sent before the events are looked up, and these follow in the same answer.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
from collections.abc import Callable, Iterator
from typing import Any

from starlette.requests import Request
from starlette.responses import FileResponse, PlainTextResponse, Response, StreamingResponse

from hookline.core.errors import HooklineError
from hookline.web.security import POLICY

_STATIC = os.path.join(os.path.dirname(__file__), "static")
_TYPES = {".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml"}
_STYLE = '<link rel="stylesheet" href="/static/style.css">'
_HTML = "text/html; charset=utf-8"
_FOREVER = {"cache-control": "private, max-age=31536000, immutable"}


class Pages:
    """``first``: what the page at a request would ask for at once."""

    def __init__(self, first: Callable[[Request], Any]) -> None:
        self._first = first
        files = {name: _read(name) for name in sorted(os.listdir(_STATIC))}
        self._version = hashlib.sha256(repr(files).encode()).hexdigest()[:12]
        style = files["style.css"]
        page = files["index.html"].replace(_STYLE, f"<style>{style}</style>")
        self._head, _, self._tail = page.replace("/static/", f"/static/{self._version}/").partition("</body>")
        digest = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode()
        policy = POLICY.replace("style-src 'self'", f"style-src 'self' 'sha256-{digest}'")
        self._headers = {"content-security-policy": policy}

    def page(self, request: Request) -> Response:
        return StreamingResponse(self._parts(request), media_type=_HTML, headers=self._headers)

    def missing(self, request: Request) -> Response:
        """An address that there is not: the page says so, and has the way back."""
        if request.url.path.startswith(("/api/", "/static/")):
            return PlainTextResponse("There is no such address.", 404)
        return StreamingResponse(self._parts(request), 404, media_type=_HTML, headers=self._headers)

    def _parts(self, request: Request) -> Iterator[str]:
        theme = request.cookies.get("theme")
        mark = f'<html data-theme="{theme}"' if theme in {"light", "dark"} else "<html"
        yield self._head.replace("<html", mark, 1)
        try:
            found = self._first(request)
        except (HooklineError, OSError, ValueError):
            found = None  # the page asks again, and says what is wrong
        text = json.dumps(found, default=str).replace("<", "\\u003c")  # no text of an event ends the element
        yield f'<script type="application/json" id="first">{text}</script>\n</body>{self._tail}'

    def static(self, request: Request) -> Response:
        name = os.path.basename(request.path_params["name"])
        kind, path = _TYPES.get(os.path.splitext(name)[1]), os.path.join(_STATIC, name)
        if kind is None or request.path_params["version"] != self._version or not os.path.isfile(path):
            return PlainTextResponse("There is no such file.", 404)
        return FileResponse(path, media_type=kind, headers=_FOREVER)


def _read(name: str) -> str:
    with open(os.path.join(_STATIC, name), encoding="utf-8") as file:
        return file.read()
