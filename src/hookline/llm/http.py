"""One HTTP request, with nothing but the standard library; its answer is a stream of server-sent events, or a whole.

A thread reads and the running loop is given what came. Who stops listening closes the connection, which ends the
thread. Keys, proxies and certificates come from the caller's environment, never from our own process's.
"""

from __future__ import annotations

import asyncio
import json
import re
import socket
import ssl
import threading
from base64 import b64encode
from collections.abc import AsyncGenerator, Callable, Iterable, Iterator, Mapping
from contextlib import aclosing, closing, suppress
from http.client import HTTPConnection, HTTPException, HTTPResponse, HTTPSConnection
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from hookline.core._dataclass import dataclass, field
from hookline.llm.names import ModelError

#: Bytes of an answer that are read as a whole, and of an error; characters of an error that are shown.
_MOST_BYTES, _ERROR_BYTES, _ERROR_SHOWN = 4 << 20, 1 << 16, 500
_OK = 200


class StatusError(ModelError):
    """The provider answered with an error: ``body`` is what it sent, decoded where it is JSON."""

    def __init__(self, status: int, body: Any, retry_after: str = "") -> None:
        super().__init__(f"API error ({status})")
        self.status_code = status
        self.body = body
        self.retry_after = retry_after


class UnreachedError(ModelError):
    """There is no connection to the provider."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Post:
    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: Any = field(repr=False)
    environ: Mapping[str, str] = field(repr=False)


def stream_events(post: Post) -> AsyncGenerator[Any]:
    """The decoded ``data`` of each event; ``[DONE]`` ends the stream. Raises ``StatusError``, ``ModelError`` and the
    errors of sockets."""
    return _stream(post, _events)


async def fetch(post: Post, seconds: float) -> bytes:
    """The whole answer; ``TimeoutError`` if it takes longer than that, however often a byte comes."""
    async with (
        asyncio.timeout(seconds),
        aclosing(_stream(post, lambda response: [response.read(_MOST_BYTES)])) as parts,
    ):
        return b"".join([part async for part in parts])


async def _stream(post: Post, parts: Callable[[HTTPResponse], Iterable[Any]]) -> AsyncGenerator[Any]:
    loop = asyncio.get_running_loop()
    queue: asyncio.Queue[Any] = asyncio.Queue()
    connection = _connection(post)
    sockets: list[socket.socket] = []

    def put(item: Any) -> None:
        try:
            loop.call_soon_threadsafe(queue.put_nowait, item)
        except RuntimeError:  # the loop has ended, and nobody listens
            _hang_up(sockets)

    reading = (post, connection, sockets, parts, put)
    threading.Thread(target=_read, args=reading, name="hookline-model", daemon=True).start()
    try:
        while (item := await queue.get()) is not None:
            if isinstance(item, BaseException):
                raise item
            yield item
    finally:
        _hang_up(sockets)


def _read(
    post: Post,
    connection: HTTPConnection,
    sockets: list[socket.socket],
    parts: Callable[[HTTPResponse], Iterable[Any]],
    put: Callable[[Any], None],
) -> None:
    try:
        try:
            connection.connect()
        except OSError as error:
            raise UnreachedError(str(error)) from error
        sockets.append(connection.sock)  # the connection forgets it when the server says that it will close it
        with closing(_send(post, connection)) as response:
            if response.status != _OK:
                again = response.getheader("Retry-After", "")
                raise StatusError(response.status, _decode(response.read(_ERROR_BYTES)), again)
            for item in parts(response):
                put(item)
        put(None)
    except HTTPException as error:
        put(ModelError(f"the server does not speak HTTP as expected: {type(error).__name__} {error}"))
    except Exception as error:
        put(error)
    finally:
        connection.close()


def _events(response: HTTPResponse) -> Iterator[Any]:
    lines: list[bytes] = []
    for raw in response:
        line = raw.rstrip(b"\r\n")
        if line.startswith(b"data:"):
            lines.append(line[5:].strip())
        elif not line and lines:
            text = b"\n".join(lines)
            lines.clear()
            if text == b"[DONE]":
                return
            yield _event(text)
    if lines and lines[0] != b"[DONE]":
        yield _event(b"\n".join(lines))


def _event(text: bytes) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise ModelError(f"the server sent no JSON: {text[:200].decode('utf-8', 'replace')}") from None


def _decode(body: bytes) -> Any:
    try:
        return json.loads(body)
    except (ValueError, RecursionError):
        return body.decode("utf-8", "replace")


# ── the connection ───────────────────────────────────────────────────────────────────────────────────────


def _send(post: Post, connection: HTTPConnection) -> HTTPResponse:
    parts = urlsplit(post.url)
    path = f"{parts.path}?{parts.query}" if parts.query else parts.path
    headers = {"Content-Type": "application/json", "Accept": "text/event-stream", **post.headers}
    if parts.scheme == "http" and (proxy := proxy_for(post.url, post.environ)):
        path = post.url
        headers |= _proxy_headers(urlsplit(proxy))
    content = json.dumps(post.body, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace")
    connection.request("POST", path, content, headers)
    return connection.getresponse()


def _connection(post: Post) -> HTTPConnection:
    """No timeout of its own, and no redirects: a key must not follow to another host."""
    parts = urlsplit(post.url)
    proxy = proxy_for(post.url, post.environ)
    first = urlsplit(proxy) if proxy else parts
    if parts.scheme not in {"http", "https"} or not parts.hostname:
        raise ModelError(f"the base URL {post.url!r} is not an address; write http://HOST or https://HOST")
    if first.scheme not in {"http", "https"} or not first.hostname or (proxy and first.scheme == "https"):
        raise ModelError(
            f"a proxy like {first.scheme}://{first.hostname} is not supported; set one that begins with http://"
        )
    try:
        port = first.port
    except ValueError as error:
        raise ModelError(f"{post.url}: {error}") from None
    if parts.scheme == "http":
        return HTTPConnection(first.hostname, port)
    context = certificates(post.environ)
    connection = HTTPSConnection(first.hostname, port or (80 if proxy else 443), context=context)
    if proxy:
        connection.set_tunnel(parts.hostname, parts.port or 443, headers=_proxy_headers(first))
    return connection


def _proxy_headers(proxy: SplitResult) -> dict[str, str]:
    if not proxy.username:
        return {}
    secret = f"{unquote(proxy.username)}:{unquote(proxy.password or '')}"
    return {"Proxy-Authorization": "Basic " + b64encode(secret.encode()).decode()}


def _hang_up(sockets: list[socket.socket]) -> None:
    """Wakes a thread that waits for the other side."""
    for one in sockets:
        with suppress(OSError):
            one.shutdown(socket.SHUT_RDWR)


def certificates(environ: Mapping[str, str]) -> ssl.SSLContext:
    try:
        return ssl.create_default_context(
            cafile=environ.get("SSL_CERT_FILE") or None, capath=environ.get("SSL_CERT_DIR") or None
        )
    except OSError as error:
        raise ModelError(f"cannot use the certificates of SSL_CERT_FILE or SSL_CERT_DIR: {error}") from error


def proxy_for(url: str, environ: Mapping[str, str]) -> str | None:
    """The proxy from the caller's environment; never for loopback."""
    parts = urlsplit(url)
    host = parts.hostname or ""
    if host in {"127.0.0.1", "localhost", "::1"}:
        return None
    skip = environ.get("no_proxy") or environ.get("NO_PROXY") or ""
    if host and _is_skipped(host, skip):
        return None
    names = (f"{parts.scheme}_proxy", f"{parts.scheme.upper()}_PROXY", "all_proxy", "ALL_PROXY")
    return next((environ[name] for name in names if environ.get(name)), None)


def _is_skipped(host: str, skip: str) -> bool:
    names = [name.strip().lstrip("*").lstrip(".").lower() for name in skip.split(",")]
    return skip.strip() == "*" or any(name and (host == name or host.endswith(f".{name}")) for name in names)


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────────


def explain(error: BaseException, name: str, key: str) -> str:
    """The error in one line, without the key: a provider's error with status and message."""
    while isinstance(error, BaseExceptionGroup) and error.exceptions:
        error = error.exceptions[0]
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return hide_key(f"API error ({status}) from {name}: {_provider_message(getattr(error, 'body', None))}", key)
    text = re.sub(r"\s+", " ", str(error)).strip() or type(error).__name__
    return hide_key(f"{name} did not answer: {text[:_ERROR_SHOWN]}", key)


def hide_key(text: str, key: str) -> str:
    return text.replace(key, "***") if len(key) > 4 else text


def _provider_message(body: Any) -> str:
    """Providers nest their message at different depths; the innermost ``message`` is the one to show."""
    while isinstance(body, dict):
        inner = body.get("error", body.get("message"))
        if inner is None:
            break
        body = inner
    return re.sub(r"\s+", " ", str(body)).strip()[:_ERROR_SHOWN]
