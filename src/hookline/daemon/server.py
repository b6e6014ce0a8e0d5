"""The socket side of the daemon: one thread leads, the others follow.

The leader does everything itself, from accepting a client to answering it: waking another thread costs as much as a
whole decision. When a request turns out slow, the leader makes way: another thread leads from then on, and it finishes
what it has begun. It makes way by itself before anything that is known to take long; otherwise the main thread, the
timekeeper, makes it. The timekeeper also tells clients that they were accepted, and gives up functions that hang.
"""

from __future__ import annotations

import contextlib
import os
import select
import signal
import socket
import threading
import time
import traceback
from collections import deque
from collections.abc import Callable
from socket import SocketType
from threading import get_ident
from time import monotonic

from hookline.daemon.connection import (
    ClientConnection,
    PartialRequest,
    accept_client,
    descriptor_limit,
    has_hung_up,
    own_process,
)
from hookline.daemon.pool import ThreadPool
from hookline.daemon.protocol import BadFrame, Callers, pack_refusal
from hookline.daemon.quarantine import HangTimer
from hookline.daemon.service import DaemonService

#: Seconds that a client has to send its whole request; and the same while descriptors are short.
_REQUEST, _HURRY = 10.0, 1.0
#: Seconds after which a client whose hooks still run learns that it was accepted.
_PATIENCE = 0.2
#: Seconds without any request after which the daemon ends.
IDLE = 3600.0
#: Seconds that running requests get at the end.
_FINISH = 60.0
#: Seconds after which a leader that is still busy with one request is replaced.
_STUCK = 0.02
#: Seconds between two checks of the timekeeper, and after the latest request until it stops checking.
_TICK, LINGER = 0.05, 2.0
#: Seconds between two chores.
_CHORE = 1.0
#: Seconds that it sleeps at most when idle, and while only background hooks run.
_NAP, _DOZE = 60.0, 1.0
#: Requests that are read before the first of them is answered.
_AT_A_TIME = 32
#: Turns after which the leader checks whether many clients wait.
_LOOK_UP = 16
#: Bytes that are read at a time.
_CHUNK = 1 << 16


class Server:
    """One listening socket; ``run`` returns when the daemon has ended."""

    def __init__(
        self,
        listening: socket.socket,
        *,
        idle: float = IDLE,
        finish: float = _FINISH,
        hang_timer: HangTimer | None = None,
        is_reachable: Callable[[], bool] = lambda: True,
    ) -> None:
        self._listening = listening
        self._is_reachable = is_reachable
        #: What the timekeeper does about once a second while anything happens.
        self.chore: Callable[[], None] | None = None
        self._next_chore = 0.0
        self._hang_timer = hang_timer or HangTimer()
        self._listener = listening.fileno()
        #: The first descriptor that is too many: the system always gives the lowest free one.
        self.full = descriptor_limit()
        self._idle = idle
        self._finish = finish
        self._pool = ThreadPool()
        self._callers = Callers()
        self.service = DaemonService(self.end, self.make_way)
        #: Guards who leads and what is being served: only a thread that serves can lose the lead.
        self._lock = threading.Lock()
        self._leader = 0
        self._serving: dict[int, ClientConnection] = {}
        #: Requests that are answered but have work left.
        self._unfinished = 0
        self._ended = False
        self._latest = monotonic()
        #: Locked while the timekeeper may sleep.
        self._sleeping = threading.Lock()
        self._sleeping.acquire()
        self._parked = False
        self._prepare_leader()

    def _prepare_leader(self) -> None:
        """What only the leader uses: what it polls, incomplete requests, and requests that wait for an answer."""
        self._poll = select.poll()
        self._waking, self._wake = os.pipe()
        self._partial: dict[int, PartialRequest] = {}
        self._requests: deque[ClientConnection] = deque()
        self._turns, self._crowd = 0, True
        #: Answers that are ready while others of the same turn are served.
        self._answers: deque[tuple[ClientConnection, bytes]] = deque()

    def run(self) -> None:
        """In the main thread, which keeps the time and gets the signals."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with contextlib.suppress(ValueError):
                signal.signal(number, lambda *_: self.end())
        self._poll.register(self._listener, select.POLLIN)
        self._poll.register(self._waking, select.POLLIN)
        try:
            self._pool.submit(self._lead)
            self._keep_time()
            self._finish_running()
        finally:
            self._pool.close()
            self.service.engines.close()

    def end(self) -> None:
        """From any thread, and from a signal handler: accept no more requests, finish those there are."""
        self._ended = True
        os.write(self._wake, b"!")
        self._wake_timekeeper()

    def make_way(self) -> None:
        """This thread's request takes longer: if it leads, another thread does from now on."""
        with self._lock:
            if self._leader != get_ident():
                return
            self._leader = 0
        self._send_answers()
        self._pool.submit(self._lead)

    # ── the leader ───────────────────────────────────────────────────────────────────────────────────

    def _lead(self) -> None:
        me = self._leader = get_ident()  # whoever asked for us has given up the lead
        try:
            while self._leader == me:
                if self._requests:
                    self._serve(self._requests.popleft(), me)
                elif self._ended:
                    self._close()
                else:
                    self._listen()
        except Exception:  # a bug of ours; there must always be a leader
            traceback.print_exc()
            time.sleep(_TICK)
        finally:
            self.make_way()

    def _listen(self) -> None:
        """Read all requests that are there. Changes of files before a request was sent are noticed after that."""
        ready = self._poll.poll(1000 if self._partial else None)
        while ready and len(self._requests) < _AT_A_TIME:
            for number, _ in ready:
                if number == self._listener:
                    # Another accept that finds nobody costs more than one more turn, unless many come at once.
                    while self._accept() and len(self._requests) < _AT_A_TIME and self._crowd:
                        pass
                elif number == self._waking:
                    return
                elif number in self._partial:
                    self._read_more(number)
            ready = self._poll.poll(0) if self._partial else []
        if self._partial:
            self._drop_stale()
        self._turns += 1
        self._crowd = len(self._requests) > 1 or self._turns % _LOOK_UP == 0
        self.service.start_turn()

    def _accept(self) -> bool:
        """Whether a client was there."""
        try:
            client = accept_client(self._listening)
        except BlockingIOError:
            return False
        except OSError:  # out of descriptors: some will be closed
            self._drop_stale(_HURRY)
            time.sleep(0.01)
            return False
        if client.fileno() >= self.full:
            self._drop_stale(_HURRY)
            client.close()  # it runs without us
        elif (caller := own_process(client)) is None:
            client.close()
        else:
            self._read(client, caller, b"")
        return True

    def _read_more(self, number: int) -> None:
        half = self._partial[number]
        self._read(half.client, half.caller, half.data, half)

    def _read(
        self, client: SocketType, caller: int, sent: bytes | bytearray, half: PartialRequest | None = None
    ) -> None:
        """Read what the client sends, after what it ``sent`` before: usually everything at once."""
        try:
            data = client.recv(_CHUNK, socket.MSG_DONTWAIT)
            if half is not None:
                half.data += data
            request = self._callers.request(sent or data) if data else None
        except BlockingIOError:
            data, request = b"?", None
        except BadFrame as bad:
            self._drop(client)
            ClientConnection(client).answer(pack_refusal(str(bad)))
            return
        except OSError:
            data, request = b"", None
        if request is not None:
            if half is not None:
                self._drop(client)
            self._requests.append(ClientConnection(client, request, caller))
        elif not data:
            self._drop(client)
            client.close()
        elif half is None:
            self._partial[client.fileno()] = PartialRequest(client, caller, b"" if data == b"?" else data)
            self._poll.register(client.fileno(), select.POLLIN)

    def _drop(self, client: SocketType) -> None:
        if self._partial.pop(client.fileno(), None) is not None:
            self._poll.unregister(client.fileno())

    def _drop_stale(self, seconds: float = _REQUEST) -> None:
        now = monotonic()
        for half in [half for half in self._partial.values() if half.since + seconds < now]:
            self._drop(half.client)
            half.client.close()

    def _serve(self, served: ClientConnection, me: int) -> None:
        now = self._latest = monotonic()
        if has_hung_up(served.client):  # it runs without us: its hooks must not run twice
            served.client.close()
            if not self._requests:
                self._send_answers()
            return
        assert served.request is not None
        served.began = now
        self._serving[me] = served
        if self._parked:
            self._hang_timer.reset(now)  # here: beside a call that holds the interpreter, the timekeeper gets no turn
            self._wake_timekeeper()
        later: Callable[[], None] | None = None
        try:
            answer, later = self.service.answer(served.request, served.caller_pid)
            self._answers.append((served, answer))
        finally:
            with self._lock:
                del self._serving[me]
                self._unfinished += later is not None
        if later is not None or not self._requests or self._leader != me:
            self._send_answers()
        if later is not None:
            self._pool.submit(lambda: self._run_later(later))
        if not self._requests:  # nobody is waiting for an answer
            self._tidy(served, me)

    def _tidy(self, answered: ClientConnection, me: int) -> None:
        """It counts as serving for as long as it takes: a file that somebody has locked must not block everybody."""
        answered.began = monotonic()
        self._serving[me] = answered
        try:
            self.service.tidy()
        finally:
            with self._lock:
                del self._serving[me]

    def _send_answers(self) -> None:
        """Answers to requests of one turn are sent together: a client that is answered asks again at once, and takes the
        processor from those who still wait. Before anything slow, and when the leader is stuck, they are sent at once."""
        while self._answers:
            try:
                served, answer = self._answers.popleft()
            except IndexError:  # another thread was quicker
                return
            served.answer(answer)

    def _run_later(self, later: Callable[[], None]) -> None:
        try:
            later()
        finally:
            with self._lock:
                self._unfinished -= 1

    def _close(self) -> None:
        self._leader = 0
        self._listening.close()
        for half in self._partial.values():
            half.client.close()

    # ── the timekeeper ───────────────────────────────────────────────────────────────────────────────

    def _keep_time(self) -> None:
        while not self._ended:
            now = monotonic()
            self._hang_timer.reset(now)
            self._depose(now)
            if self.chore is not None and now >= self._next_chore:
                self._next_chore = now + _CHORE
                self.chore()
            for thread, served in tuple(self._serving.items()):
                if served.began + _PATIENCE < now:
                    served.accept()
                if self.service.engines.deadlines.overdue(thread):  # it cannot be ended, but its client need not wait
                    served.answer(pack_refusal("a hook hangs"))
            if self._serving or now < self._latest + LINGER:
                self._sleep(_TICK)
            elif now < self._latest + self._idle and self._is_reachable():
                nap = min(self._latest + self._idle - now, _DOZE if self._unfinished else _NAP)
                self._hang_timer.rest(nap)
                self._parked = True  # from now on whoever serves wakes us
                self._sleep(0 if self._serving else nap)
                self._parked = False
            else:
                self.end()

    def _depose(self, now: float) -> None:
        """A leader that is stuck goes on as a follower, and another thread leads."""
        with self._lock:
            served = self._serving.get(self._leader)
            if served is None or served.began + _STUCK > now:
                return
            self._leader = 0
        self._send_answers()
        self._pool.submit(self._lead)

    def _finish_running(self) -> None:
        until = monotonic() + self._finish
        while (self._serving or self._unfinished or self._requests or self._leader) and monotonic() < until:
            now = monotonic()
            self._hang_timer.reset(now)
            self._depose(now)
            for served in tuple(self._serving.values()):
                if served.began + _PATIENCE < now:
                    served.accept()
            time.sleep(0.01)

    def _sleep(self, seconds: float) -> None:
        self._sleeping.acquire(timeout=seconds)

    def _wake_timekeeper(self) -> None:
        with contextlib.suppress(RuntimeError):  # it is awake already
            self._sleeping.release()
