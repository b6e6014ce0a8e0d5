"""The socket side of the daemon: connections, frames, time limits, and the end.

The loop reads, keeps time, and answers what is sure to be quick. Everything else is carried out in a thread, which
writes the answer to the client itself: going back through the loop would cost as much as the whole decision.
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
from typing import TYPE_CHECKING, cast

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
        for number in range(AT_A_TIME):
            try:
                client, _ = self._listening.accept()
            except OSError:
                return
            client.setblocking(False)
            if not _is_ours(client):
                client.close()
                continue
            assert self._loop is not None
            Conversation(self, self._loop, client).hear(_first_words(client, patient=number == 0))

    def answer_now(self, request: Request, client: socket.socket) -> bool:
        """Answer here and now what is sure to take no time; a thread would cost more than the decision."""
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
            self._pool.submit(lambda: _send(client, answer[sent:]))
        else:
            client.close()
        if later is not None:
            self._pool.submit(later)
        return True

    def carry_out(self, request: Request, client: socket.socket) -> None:
        """In a thread, which has the client from now on."""
        with self._lock:
            self._busy += 1
        self._latest = time.monotonic()
        assert self._loop is not None
        voice = _Voice(client)
        self._loop.call_later(PATIENCE, voice.accept)  # finds nothing to do when the answer is out

        def work() -> None:
            later: Callable[[], None] | None = None
            self._serving[threading.get_ident()] = voice.answer
            try:
                answer, later = self.service.answer(request)
                voice.answer(answer)
            finally:
                self._serving.pop(threading.get_ident(), None)
                try:
                    if later is not None:
                        later()
                finally:
                    with self._lock:
                        self._busy -= 1

        self._pool.submit(work)


class _Voice:
    """What is said to one client: that it was heard, perhaps, and one answer. Spoken by several threads."""

    __slots__ = ("_client", "_lock", "_over")

    def __init__(self, client: socket.socket) -> None:
        self._client = client
        self._lock = threading.Lock()
        self._over = False

    def accept(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            if not self._over:
                self._client.send(ACCEPTED)

    def answer(self, answer: bytes) -> None:
        """The first answer is the last: a request that was given up is not answered again."""
        with self._lock:
            over, self._over = self._over, True
        if not over:
            _send(self._client, answer)


class Conversation:
    """One client: reads one request, and no more.

    Not an ``asyncio.Protocol``: a transport costs more than a whole decision, and it and the thread that answers would
    both own the socket; under load that ended in one of them closing the other's.
    """

    __slots__ = ("_body", "_client", "_limit", "_loop", "_need", "_server", "_text")

    def __init__(self, server: Server, loop: asyncio.AbstractEventLoop, client: socket.socket) -> None:
        self._server = server
        self._loop = loop
        self._client = client
        self._body = bytearray()
        self._need = HEAD.size
        self._text = -1
        self._limit: asyncio.TimerHandle | None = None

    def hear(self, data: bytes) -> None:
        self._body += data
        try:
            request = self._whole()
        except BadFrame as bad:
            self._refuse(str(bad))
            return
        if request is not None:
            self._accept(request)
        elif self._limit is None:
            self._limit = self._loop.call_later(REQUEST, self._leave)
            self._loop.add_reader(self._client.fileno(), self._more)

    def _more(self) -> None:
        try:
            data = self._client.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if data:
            self.hear(data)
        else:
            self._leave()

    def _whole(self) -> Request | None:
        body = self._body
        if self._text < 0 and len(body) >= HEAD.size:
            self._text, stdin = sizes(body)
            self._need = HEAD.size + self._text + stdin
        if self._text < 0 or len(body) < self._need:
            return None
        return parsed(memoryview(body)[HEAD.size : self._need], self._text)

    def _accept(self, request: Request) -> None:
        self._let_go()
        if _hung_up(self._client.fileno()):  # we were too slow, and it does without us: do not run its hooks twice
            self._client.close()
        elif not self._server.answer_now(request, self._client):
            self._server.carry_out(request, self._client)

    def _refuse(self, why: str) -> None:
        self._let_go()
        with contextlib.suppress(OSError):
            self._client.send(refusal(why))
        self._client.close()

    def _leave(self) -> None:
        self._let_go()
        self._client.close()

    def _let_go(self) -> None:
        if self._limit is not None:
            self._limit.cancel()
            self._loop.remove_reader(self._client.fileno())


def _first_words(client: socket.socket, *, patient: bool) -> bytes:
    """What the client has said; if others do not wait already, it has a millisecond to say it."""
    try:
        return client.recv(1 << 18)
    except BlockingIOError:
        pass
    except OSError:
        return b""
    poll = select.poll()
    poll.register(client, select.POLLIN)
    if not patient or not poll.poll(1):
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


def _send(client: socket.socket, answer: bytes) -> None:
    """To a client that may be gone, or may not read; and that is all."""
    left = memoryview(answer)
    poll = select.poll()
    poll.register(client, select.POLLOUT)
    with client, contextlib.suppress(OSError):
        while left:
            try:
                left = left[client.send(left) :]
            except BlockingIOError:
                if not poll.poll(UNREAD * 1000):
                    return


def _new_loop() -> asyncio.AbstractEventLoop:
    try:
        import uvloop  # noqa: PLC0415  an extra: without it everything works, a little slower
    except ImportError:
        return asyncio.new_event_loop()
    return cast("asyncio.AbstractEventLoop", uvloop.new_event_loop())
