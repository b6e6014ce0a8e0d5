"""POST the event to a configured server, whose response is read like a command's stdout.

The request is made in a thread of its own, because nothing else can hold a deadline over all of it: looking up a
name cannot be interrupted, and a server that sends a byte per second never exceeds the timeout of a socket.
"""

from __future__ import annotations

import os
import re
import select
import socket
import threading
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING
from urllib.parse import SplitResult, urlsplit

from hookline.core.hook import Http
from hookline.core.result import RunResult
from hookline.runners.spawn import Capture

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

    from hookline.runners.base import Job

_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))", re.ASCII)
_HEADER_NAME = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+", re.ASCII)
_CHUNK = 1 << 16
#: Characters of an answer that go into an error.
_SHOWN = 300


class _RefusedError(Exception):
    """The request must not or cannot be made; nothing secret is in the text."""


class HttpRunner:
    """One connection per event, straight to the host: no proxies, no redirects, no cookies."""

    __slots__ = ()

    def run(self, job: Job) -> RunResult:
        began = time.monotonic()
        try:
            request = _Request(job)
        except _RefusedError as refused:
            return RunResult(error=str(refused), ms=_since(began))
        return _wait_for(request, job, began)

    def start(self, job: Job) -> RunResult:
        """Send without waiting; the request does not keep the process alive."""
        try:
            _Request(job).begin()
        except _RefusedError as refused:
            return RunResult(error=str(refused))
        return RunResult()

    def close(self) -> None:
        """No connection outlives its request."""


def _wait_for(request: _Request, job: Job, began: float) -> RunResult:
    done, tell = os.pipe()
    try:
        request.begin(tell)
        poll = select.poll()
        poll.register(done, select.POLLIN)
        poll.register(job.stop.fileno(), select.POLLIN)
        limit = job.timeout
        ready = dict(poll.poll(None if limit is None else max(0.0, limit * 1000 - _since(began))))
        if done in ready and request.answer is not None:
            return request.answer
        request.give_up()
        stopped = "stopped from outside before it finished" if ready else ""
        return RunResult(error=stopped, timed_out=not ready, ms=_since(began))
    finally:
        os.close(done)


class _Request:
    """Everything is checked when it is made; ``begin`` makes it happen; ``answer`` is there when it is done."""

    __slots__ = ("_body", "_connection", "_headers", "_limits", "_state_dir", "_timeout", "_url", "answer")

    def __init__(self, job: Job) -> None:
        action = job.spec.action
        assert isinstance(action, Http)
        self._url = _allowed(action)
        self._headers = _headers(action, self._url, job.event.environ)
        self._body = job.call.stdin
        self._timeout = job.timeout
        self._limits = job.settings.limits
        self._state_dir = job.settings.state_dir
        self._connection: HTTPConnection | None = None
        self.answer: RunResult | None = None

    def begin(self, tell: int = -1) -> None:
        """Start it; the descriptor is closed when it is done."""
        threading.Thread(target=self._carry_out, args=(tell,), name="hookline-http", daemon=True).start()

    def give_up(self) -> None:
        """Cut the connection, so that the thread ends too."""
        connection = self._connection
        sock = None if connection is None else connection.sock
        if sock is not None:
            try:
                sock.shutdown(socket.SHUT_RDWR)
            except OSError:
                return

    def _carry_out(self, tell: int) -> None:
        began = time.monotonic()
        try:
            self.answer = self._exchange(began)
        except Exception as error:
            timed_out = isinstance(error, TimeoutError)
            finding = "" if timed_out else f"POST to {self._place()} failed: {_reason(error)}"
            self.answer = RunResult(error=finding, timed_out=timed_out, ms=_since(began))
        finally:
            if tell >= 0:
                os.close(tell)

    def _place(self) -> str:
        """The address without what may be secret in it: the user, the password and the query."""
        return (
            f"{self._url.scheme}://{self._url.hostname}{f':{self._url.port}' if self._url.port else ''}{self._url.path}"
        )

    def _exchange(self, began: float) -> RunResult:
        connection = self._connection = self._connect()
        try:
            target = self._url.path or "/"
            if self._url.query:
                target += f"?{self._url.query}"
            connection.request("POST", target, self._body, self._headers)
            response = connection.getresponse()
            body = Capture("response", self._limits.output, self._state_dir)
            try:
                while data := response.read1(_CHUNK):
                    body.feed(data)
            finally:
                body.close()
            return _judge(response, body, _since(began))
        finally:
            connection.close()

    def _connect(self) -> HTTPConnection:
        from http.client import HTTPConnection, HTTPSConnection  # 20 ms of imports

        kind = HTTPSConnection if self._url.scheme == "https" else HTTPConnection
        return kind(self._url.hostname or "", self._url.port, timeout=self._timeout)


def _judge(response: HTTPResponse, body: Capture, ms: float) -> RunResult:
    text = body.text()
    if 200 <= response.status < 300:
        spilled = (body.path,) if body.path else ()
        return RunResult(exit_code=0, stdout=text, ms=ms, cut=body.cut, spilled=spilled, notes=body.notes())
    finding = f"HTTP {response.status}"
    if 300 <= response.status < 400:
        return RunResult(error=f"{finding}: redirects are not followed; write the address it leads to", ms=ms)
    shown = " ".join(text[: _SHOWN * 2].split())[:_SHOWN]
    return RunResult(error=f"{finding}: {shown}" if shown else finding, ms=ms)


def _allowed(action: Http) -> SplitResult:
    """Secrets and decisions travel encrypted, or stay on this machine, unless the hook allows otherwise."""
    try:
        url = urlsplit(action.url)
        host, _ = url.hostname, url.port
    except ValueError:
        raise _RefusedError("the url cannot be read; write https://host/path") from None
    if not host or url.scheme not in {"http", "https"} or not action.url.isprintable() or " " in action.url:
        raise _RefusedError("the url must be https://host/path, or http:// to this machine")
    if url.scheme == "http" and not action.allow_insecure and not is_loopback(host):
        raise _RefusedError(f"plain http to {host!r} is not allowed; use https, or set allow_insecure = true")
    return url


def is_loopback(host: str) -> bool:
    import ipaddress  # only plain http needs it

    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False


def _headers(action: Http, url: SplitResult, environ: Mapping[str, str]) -> dict[str, bytes | str]:
    headers: dict[str, bytes | str] = {"Content-Type": "application/json", "User-Agent": "hookline"}
    if url.username is not None:
        headers["Authorization"] = _basic(url)
    for name, template in action.headers:
        if not _HEADER_NAME.fullmatch(name):
            raise _RefusedError(f"{name!r} is not a valid header name")
        value = _expanded(name, template, environ, action.variables)
        if "\r" in value or "\n" in value or "\0" in value:
            raise _RefusedError(f"the value of the header {name} contains a line break")
        # The same header in another spelling replaces ours; two of them would confuse servers.
        headers = {known: kept for known, kept in headers.items() if known.lower() != name.lower()}
        headers[name] = value.encode("utf-8", "surrogateescape")
    return headers


def _basic(url: SplitResult) -> str:
    import base64  # few addresses have a password
    from urllib.parse import unquote  # the same

    pair = f"{unquote(url.username or '')}:{unquote(url.password or '')}"
    return "Basic " + base64.b64encode(pair.encode()).decode()


def _expanded(header: str, template: str, environ: Mapping[str, str], allowed: tuple[str, ...] | None) -> str:
    """``$NAME`` and ``${NAME}`` from the caller's environment; a missing one is named, never sent empty, unless the
    hook lists its variables."""

    def value(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if allowed is not None:
            return environ.get(name, "") if name in allowed else ""
        if name not in environ:
            raise _RefusedError(f"the header {header} needs the environment variable {name}, which is not set")
        return environ[name]

    return _VARIABLE.sub(value, template)


def _reason(error: Exception) -> str:
    """Only what cannot repeat a header or an address."""
    if isinstance(error, OSError) and (error.strerror or getattr(error, "reason", "")):
        return str(error.strerror or getattr(error, "reason", ""))
    return type(error).__name__


def _since(began: float) -> float:
    return (time.monotonic() - began) * 1000
