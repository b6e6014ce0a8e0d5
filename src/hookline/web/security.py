"""Every request passes here first: who sends it, from where, and whether it may read or act."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from http.cookies import CookieError, SimpleCookie
from typing import Any
from urllib.parse import parse_qs

from anyio.to_thread import run_sync
from starlette.responses import JSONResponse, PlainTextResponse, RedirectResponse, Response

from hookline.web.access import Access, Browser
from hookline.web.peers import Peers

_Scope = MutableMapping[str, Any]
_Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
_Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
_App = Callable[[_Scope, _Receive, _Send], Awaitable[None]]

#: No inline script or style, nothing from elsewhere, no markup made of text.
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'"
)
_HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"x-frame-options", b"DENY"),
    (b"cache-control", b"no-store"),
)
#: What changes nothing, though it is posted.
_HARMLESS = frozenset({"/api/unlock", "/api/what-if"})
_NEW_ADDRESS = "Press Enter in the terminal of hookline web for a new address."
#: Bytes of one request's body.
_MOST = 1 << 20


class Security:
    """Loopback only, one origin, a cookie from a one-time token, and no agent at the other end."""

    def __init__(self, app: _App, access: Access, port: int, *, with_metrics: bool = False) -> None:
        self._app = app
        self._access = access
        self._port = port
        #: A scraper has no cookie; numbers are all it gets.
        self._with_metrics = with_metrics
        self._peers = Peers()
        self._hosts = {f"{name}:{port}" for name in ("127.0.0.1", "localhost", "[::1]")}
        #: Its cookies are not sent to another port's server, which cookies by themselves do not prevent.
        self._cookie = f"hookline-{port}"

    async def __call__(self, scope: _Scope, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http":
            if scope["type"] == "lifespan":
                await self._app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = await self._refusal(scope, headers)
        await (refusal or self._app)(scope, receive, _with_headers(send))

    async def _refusal(self, scope: _Scope, headers: dict[str, str]) -> Response | None:
        if headers.get("host", "").lower() not in self._hosts:
            return PlainTextResponse("This server answers to its own name only.", 421)
        if not self._is_own_origin(scope["method"], headers):
            return PlainTextResponse("Another page sent this request.", 403)
        client = scope.get("client")
        if client is None:
            return PlainTextResponse("Who sends this is unknown.", 403)
        agent = await run_sync(self._peers.refusal, client[1], self._port)
        if agent:
            return PlainTextResponse(f"An agent may not use this view: {agent}.", 403)
        return self._admission(scope, headers)

    def _is_own_origin(self, method: str, headers: dict[str, str]) -> bool:
        origin = headers.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host}" for host in self._hosts}:
            return False
        if origin is None and method not in {"GET", "HEAD"}:
            return False
        return headers.get("sec-fetch-site", "none") in {"none", "same-origin"}

    def _admission(self, scope: _Scope, headers: dict[str, str]) -> Response | None:
        browser = self._access.browser(self._read_cookie(headers.get("cookie", "")))
        token = parse_qs(scope["query_string"].decode("latin-1")).get("token")
        bucket = self._access.strangers if browser is None else browser.requests
        if not bucket.take():
            return PlainTextResponse("Too many requests.", 429, headers={"retry-after": "1"})
        if scope["path"] == "/" and token and scope["method"] == "GET":
            return self._admit(token[0], known=browser is not None)
        if self._with_metrics and scope["path"] == "/metrics" and scope["method"] == "GET":
            return None
        if browser is None:
            return PlainTextResponse(f"hookline does not know this browser. {_NEW_ADDRESS}", 401)
        scope["state"] = {"browser": browser}
        return self._may_act(scope, headers, browser)

    def _admit(self, token: str, *, known: bool) -> Response:
        """The cookie, and the same page without the token: neither the history nor a referrer keeps it."""
        cookie = self._access.admit(token)
        if cookie is None and known:  # the address of the terminal, opened a second time
            return RedirectResponse("/", 303)
        if cookie is None:
            return PlainTextResponse(f"This address is not valid, or not any more. {_NEW_ADDRESS}", 403)
        response = RedirectResponse("/", 303)
        response.set_cookie(self._cookie, cookie, httponly=True, samesite="strict", path="/")
        return response

    def _may_act(self, scope: _Scope, headers: dict[str, str], browser: Browser) -> Response | None:
        if scope["method"] in {"GET", "HEAD"}:
            return None
        if scope["method"] != "POST" or not headers.get("content-type", "").startswith("application/json"):
            return JSONResponse({"error": "this address takes JSON by POST"}, 415)
        length = headers.get("content-length", "")
        if "transfer-encoding" in headers or not length.isdecimal() or int(length) > _MOST:
            return JSONResponse({"error": "the request is too large, or does not say how large it is"}, 413)
        if scope["path"] in _HARMLESS:
            return None
        if self._access.read_only:
            return JSONResponse({"error": "this view is read-only; start it without --read-only"}, 403)
        if not browser.may_act:
            return JSONResponse({"error": "give the code that the terminal of hookline web shows", "locked": True}, 403)
        return None

    def _read_cookie(self, text: str) -> str:
        try:
            morsel = SimpleCookie(text).get(self._cookie)
        except CookieError:
            return ""
        return "" if morsel is None else morsel.value


def _with_headers(send: _Send) -> _Send:
    async def sending(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            given = {name.lower() for name, _ in message["headers"]}
            message["headers"] = [*message["headers"], *(pair for pair in _HEADERS if pair[0] not in given)]
        await send(message)

    return sending
