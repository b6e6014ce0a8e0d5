"""The socket side of the daemon: connections, frames, time limits, and the end.

The loop only reads and keeps time. A request is carried out in a thread, which writes the answer to the client itself:
going back through the loop would cost as much as the whole decision.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import socket
import struct
import threading
import time
from typing import TYPE_CHECKING, Any, cast

from hookline.daemon.pool import Pool
from hookline.daemon.protocol import ACCEPTED, HEAD, BadFrame, parsed, refusal, sizes
from hookline.daemon.service import Service

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.daemon.protocol import Request

#: Seconds a client has to send its whole request.
REQUEST = 10.0
#: Seconds after which a client whose hooks still run is told that it was heard.
PATIENCE = 0.2
#: Seconds a client may leave an answer unread.
UNREAD = 10.0
#: Seconds without any request after which the daemon ends.
IDLE = 3600.0
#: Seconds between two looks for functions that hang.
GIVE_UP = 0.25
#: Seconds that running requests get at the end.
FINISH = 60.0


#: Clients that are let in before the loop looks at anything else.
AT_A_TIME = 16

_CREDENTIALS = struct.Struct("3i")


class Server:
    """One listening socket; ``run`` returns when the daemon has ended."""

    def __init__(self, listening: socket.socket, *, idle: float = IDLE, finish: float = FINISH) -> None:
        self._listening = listening
        self._idle = idle
        self._finish = finish
        self._pool = Pool()
        self.service = Service(self.end)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._ended: asyncio.Event | None = None
        self._busy = 0
        self._lock = threading.Lock()
        #: Thread -> how to answer the request it works on.
        self._serving: dict[int, Callable[[bytes], None]] = {}
        self._latest = time.monotonic()
        self._tasks: set[asyncio.Task[Any]] = set()

    def run(self) -> None:
        loop = _new_loop()
        try:
            loop.run_until_complete(self._serve(loop))
        finally:
            self._pool.close()
            self.service.shelf.close()
            loop.close()

    def end(self) -> None:
        """From any thread: take no more, finish what there is."""
        loop, ended = self._loop, self._ended
        if loop is not None and ended is not None:
            with contextlib.suppress(RuntimeError):
                loop.call_soon_threadsafe(ended.set)

    async def _serve(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop, self._ended = loop, asyncio.Event()
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with contextlib.suppress(NotImplementedError, RuntimeError, ValueError):
                loop.add_signal_handler(number, self._ended.set)
        loop.add_reader(self._listening.fileno(), self._knocked)
        watches = [loop.create_task(self._watch_idle(self._ended)), loop.create_task(self._watch_functions())]
        await self._ended.wait()
        for watch in watches:
            watch.cancel()
        loop.remove_reader(self._listening.fileno())
        self._listening.close()
        until = time.monotonic() + self._finish
        while self._busy and time.monotonic() < until:  # noqa: ASYNC110  a thread counts down
            await asyncio.sleep(0.02)

    async def _watch_idle(self, ended: asyncio.Event) -> None:
        while True:
            left = self._latest + self._idle - time.monotonic()
            if left <= 0 and not self._busy:
                ended.set()
                return
            await asyncio.sleep(max(left, min(1.0, self._idle)))

    async def _watch_functions(self) -> None:
        """A function that cannot be ended keeps its thread, but not its caller."""
        while True:
            await asyncio.sleep(GIVE_UP)
            for thread in self.service.shelf.deadlines.overdue():
                give_up = self._serving.get(thread)
                if give_up is not None:
                    self._pool.submit(lambda give_up=give_up: give_up(refusal("a hook hangs")))  # type: ignore[misc]

    def _knocked(self) -> None:
        """Clients are there. What one of them says is usually there too: then it is answered without further ado."""
        for _ in range(AT_A_TIME):
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            client.setblocking(False)
            if not _is_ours(client):
                client.close()
                continue
            heard = _first_words(client)
            if not self._at_once(client, heard):
                self._converse(client, heard)

    def _at_once(self, client: socket.socket, heard: bytes) -> bool:
        """Answer here and now what is sure to take no time; a transport or a thread would cost more than the decision."""
        try:
            if len(heard) < HEAD.size or len(heard) != HEAD.size + sum(sizes(heard)):
                return False
            request = parsed(heard[HEAD.size :], sizes(heard)[0])
        except BadFrame:
            return False
        if _hung_up(client.fileno()):  # we were too slow, and the client does without us: do not run its hooks twice
            client.close()
            return True
        told = self.service.at_once(request)
        if told is None:
            return False
        self._latest = time.monotonic()
        answer, later = told
        try:
            sent = client.send(answer)
        except OSError:
            sent = len(answer)  # it is gone
        if sent < len(answer):
            mine = client.detach()
            self._pool.submit(lambda: _send_and_close(mine, answer[sent:]))
        else:
            client.close()
        if later is not None:
            self._pool.submit(later)
        return True

    def _converse(self, client: socket.socket, heard: bytes) -> None:
        assert self._loop is not None
        connecting = self._loop.connect_accepted_socket(lambda: Conversation(self, heard), client)
        task = self._loop.create_task(connecting)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    def carry_out(self, request: Request, client: int, heard: Callable[[], None]) -> None:
        """``client`` is a descriptor of our own; ``heard`` is called when the answer is out."""
        with self._lock:
            self._busy += 1
        self._latest = time.monotonic()

        said = threading.Lock()

        def say(answer: bytes) -> None:
            """The first word is the last: a request that was given up is not answered again."""
            if said.acquire(blocking=False):
                heard()
                _send(client, answer)
                os.close(client)

        def work() -> None:
            later: Callable[[], None] | None = None
            self._serving[threading.get_ident()] = say
            try:
                answer, later = self.service.answer(request)
                say(answer)
            finally:
                self._serving.pop(threading.get_ident(), None)
                try:
                    if later is not None:
                        later()
                finally:
                    with self._lock:
                        self._busy -= 1

        self._pool.submit(work)


class Conversation(asyncio.Protocol):
    """One client: reads one request, and no more."""

    __slots__ = ("_body", "_heard", "_limit", "_need", "_server", "_text", "_transport")

    def __init__(self, server: Server, heard: bytes) -> None:
        self._server = server
        self._heard = heard
        self._transport: asyncio.Transport | None = None
        self._body = bytearray()
        self._need = HEAD.size
        self._text = -1
        self._limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = cast("asyncio.Transport", transport)
        self._limit = asyncio.get_running_loop().call_later(REQUEST, self._transport.abort)
        if self._heard:
            self.data_received(self._heard)

    def data_received(self, data: bytes) -> None:
        if self._need < 0:
            return  # after the request there is nothing to hear
        body = self._body
        body += data
        try:
            if self._text < 0 and len(body) >= HEAD.size:
                self._text, stdin = sizes(body)
                self._need = HEAD.size + self._text + stdin
            if self._text >= 0 and len(body) >= self._need:
                whole = parsed(memoryview(body)[HEAD.size : self._need], self._text)
                self._body, self._need = bytearray(), -1
                self._accept(whole)
        except BadFrame as bad:
            self._refuse(str(bad))

    def eof_received(self) -> bool:
        # A client that has said everything may stop writing and still wait for the answer.
        return self._need < 0

    def connection_lost(self, exc: Exception | None) -> None:  # noqa: ARG002  the protocol's signature
        if self._limit is not None:
            self._limit.cancel()

    def _accept(self, request: Request) -> None:
        transport = self._transport
        assert transport is not None
        if self._limit is not None:
            self._limit.cancel()
        descriptor = transport.get_extra_info("socket").fileno()
        if _hung_up(descriptor):  # we were too slow, and the client does without us: do not run its hooks twice
            transport.abort()
            return
        mine = os.dup(descriptor)
        answered = threading.Event()
        lock = threading.Lock()

        def say_accepted() -> None:
            with lock:
                if not answered.is_set():
                    transport.write(ACCEPTED)

        self._limit = asyncio.get_running_loop().call_later(PATIENCE, say_accepted)

        def heard() -> None:
            with lock:
                answered.set()

        self._server.carry_out(request, mine, heard)

    def _refuse(self, why: str) -> None:
        self._need = -1
        if self._transport is not None:
            self._transport.write(refusal(why))
            self._transport.close()


def _first_words(client: socket.socket) -> bytes:
    """What the client has said, if it says anything within a millisecond of its knocking."""
    try:
        return client.recv(1 << 18)
    except BlockingIOError:
        pass
    except OSError:
        return b""
    poll = select.poll()
    poll.register(client, select.POLLIN)
    if not poll.poll(1):
        return b""
    try:
        return client.recv(1 << 18)
    except OSError:
        return b""


def _is_ours(sock: socket.socket) -> bool:
    """Only this user may ask. Where the system does not tell, the directory's permissions have decided."""
    option = getattr(socket, "SO_PEERCRED", None)
    if option is None:
        return True
    told = sock.getsockopt(socket.SOL_SOCKET, option, _CREDENTIALS.size)
    return bool(_CREDENTIALS.unpack(told)[1] == os.geteuid())


def _hung_up(client: int) -> bool:
    """Whether the other end is closed altogether, and not only silent."""
    poll = select.poll()
    poll.register(client, select.POLLHUP)
    return any(found & select.POLLHUP for _, found in poll.poll(0))


def _send_and_close(client: int, answer: bytes) -> None:
    _send(client, answer)
    os.close(client)


def _send(client: int, answer: bytes) -> None:
    """To a client that may be gone, or may not read."""
    left = memoryview(answer)
    poll = select.poll()
    poll.register(client, select.POLLOUT)
    try:
        while left:
            try:
                left = left[os.write(client, left) :]
            except BlockingIOError:
                if not poll.poll(UNREAD * 1000):
                    return
        with socket.socket(fileno=os.dup(client)) as sock:
            sock.shutdown(socket.SHUT_WR)
    except OSError:
        return


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop  # noqa: PLC0415  an extra: without it everything works, a little slower
    except ImportError:
        return asyncio.new_event_loop()
    return cast("asyncio.AbstractEventLoop", uvloop.new_event_loop())
