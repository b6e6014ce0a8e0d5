"""Start the view: refuse below an agent, bind to loopback, print the address and the code, open a browser."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import sys
import threading
import webbrowser
from collections.abc import Callable
from typing import Any

import anyio
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from hookline.core.errors import StateError, UsageError
from hookline.core.paths import Paths
from hookline.state.protection import find_agent_above, is_protected
from hookline.web.access import Access
from hookline.web.app import Services, View, make_app

#: The port unless one is given; the next free one if it is taken.
_PORT = 7788
_TRIES = 20
#: Seconds without a whole request, after which a connection is ended at the next look.
_PATIENCE = 10.0


def bind(port: int | None) -> socket.socket:
    """A socket on loopback. A port that was asked for must be free; else the next free one is taken."""
    for number in [port] if port is not None else range(_PORT, _PORT + _TRIES):
        # With the protocol named, asyncio sends at once; else each body waits 40 ms for the head to be acknowledged.
        sock = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            sock.bind(("127.0.0.1", number))
            sock.listen(128)  # from now on: the address is printed before the server runs
        except (OSError, OverflowError) as error:
            sock.close()
            if port is not None:
                why = getattr(error, "strerror", None) or str(error)
                raise UsageError(
                    f"port {port} cannot be used ({why}); choose another: --port N, or 0 for any"
                ) from error
            continue
        return sock
    raise StateError(f"the ports {_PORT} to {_PORT + _TRIES - 1} are all taken; choose another: --port N, or 0 for any")


def _require_person() -> None:
    """An agent must not be able to answer for the person it asks."""
    agent = find_agent_above(os.getpid(), os.environ)
    if agent:
        raise UsageError(f"{agent} runs this command; start the view in a terminal of your own: hookline web")


def _has_terminal() -> bool:
    """A command that an agent detaches from itself has none, and would show the code to that agent."""
    try:
        os.close(os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY))
    except OSError:
        return False
    return True


def serve(
    paths: Paths,
    services: Services,
    *,
    port: int | None,
    read_only: bool,
    browse: bool,
    with_metrics: bool,
    say: Callable[[str], None],
) -> None:
    """Until somebody ends it."""
    _require_person()
    read_only = read_only or (is_protected(paths.state) and not _has_terminal())
    sock = bind(port)
    number = int(sock.getsockname()[1])
    access = Access(read_only=read_only)
    view = View(paths, os.getcwd(), access, services, with_metrics=with_metrics)
    # No access log: addresses hold tokens and ids of sessions.
    config = uvicorn.Config(
        make_app(view, access, number), log_level="critical", access_log=False, server_header=False, lifespan="off",
        limit_concurrency=128, timeout_keep_alive=30, timeout_graceful_shutdown=1, h11_max_incomplete_event_size=65536,
        http=_Connection, ws="none",
    )  # fmt: skip
    server = _Server(config)
    with _ended_by_signals(server):
        address = _announce(number, access, say)
        if browse:
            _open(address, say)
        _offer_addresses(number, access, say)
        anyio.run(anyio.sleep, 0)  # loads what the first request would wait for, while the browser starts
        try:
            server.run(sockets=[sock])
        finally:
            view.close()
            sock.close()


class _Connection(H11Protocol):
    """Ends without a whole request for a while: whoever only opens connections does not use them all up."""

    def connection_made(self, transport: Any) -> None:
        super().connection_made(transport)
        self._look(None)

    def _look(self, before: object) -> None:
        """``before`` is the request of the last look, or this connection where there was none."""
        if self.transport.is_closing():
            return
        cycle: Any = self.cycle  # None before the first request, which its type does not say
        idle = cycle is None or cycle.response_complete
        if idle and before is (cycle or self):
            self.transport.close()
        else:
            self.loop.call_later(_PATIENCE, self._look, cycle or self)


class _Server(uvicorn.Server):
    """Signals are ours: the command line ends in its own way."""

    @contextlib.contextmanager
    def capture_signals(self) -> Any:
        yield


@contextlib.contextmanager
def _ended_by_signals(server: uvicorn.Server) -> Any:
    def end(*_: object) -> None:
        server.should_exit = True

    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
    before = {number: signal.signal(number, end) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _address(port: int, access: Access) -> str:
    return f"http://127.0.0.1:{port}/?token={access.new_token()}"


def _announce(port: int, access: Access, say: Callable[[str], None]) -> str:
    address = _address(port, access)
    say(f"hookline web: {address}")
    if access.read_only:
        say(
            "Read-only: nothing can be changed or answered. To act here, start hookline web in a terminal, without --read-only."
        )
    else:
        say(f"Code for actions, once in each browser: {access.code}")
    return address


def _open(address: str, say: Callable[[str], None]) -> None:
    """The address is printed in any case; without a browser that is all."""
    has_screen = sys.platform == "darwin" or os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY")
    if not has_screen or not _opened(address):
        say("No browser was found here: open the address above yourself. It works once.")


def _opened(address: str) -> bool:
    try:
        return webbrowser.open(address)
    except (webbrowser.Error, OSError):
        return False


def _offer_addresses(port: int, access: Access, say: Callable[[str], None]) -> None:
    """Every address works once; for another browser, Enter gives a new one."""
    if not sys.stdin or not sys.stdin.isatty():
        return
    say("Press Enter for another address, Ctrl-C to end.")

    def read() -> None:
        for _ in sys.stdin:
            say(_address(port, access))

    threading.Thread(target=read, name="hookline-addresses", daemon=True).start()
