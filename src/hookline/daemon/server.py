"""The socket side of the daemon: one thread leads, the others follow.

The leader does everything itself, from accepting a client to answering it: waking another thread costs as much as a
whole decision. When a request turns out slow, the leader makes way: somebody else leads from then on, and it goes on
with what it has begun. It makes way of its own accord before anything that is known to take long, and is made to by
the main thread, which keeps the time: it also tells clients that they were heard, and gives up functions that hang.
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
    is_own_user,
)
from hookline.daemon.pool import ThreadPool
from hookline.daemon.protocol import BadFrame, Callers, pack_refusal
from hookline.daemon.quarantine import HangTimer
from hookline.daemon.service import DaemonService

#: Seconds a client has to send its whole request; and while there is no room for others.
_REQUEST, _HURRY = 10.0, 1.0
#: Seconds after which a client whose hooks still run is told that it was heard.
_PATIENCE = 0.2
#: Seconds without any request after which the daemon ends.
IDLE = 3600.0
#: Seconds that running requests get at the end.
_FINISH = 60.0
#: Seconds after which a leader that is still busy with one request leads no more.
_STUCK = 0.02
#: Seconds between two looks of the timekeeper, and after the latest request until it looks no more.
_TICK, LINGER = 0.05, 2.0
#: Seconds between two chores.
_CHORE = 1.0
#: Seconds that it sleeps at most while there is nothing to do, and while only hooks in the background run.
_NAP, _DOZE = 60.0, 1.0
#: Clients that are heard before the first of them is answered.
_AT_A_TIME = 32
#: Turns after which the leader looks whether there is a crowd at the door.
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
        warden: HangTimer | None = None,
        can_be_found: Callable[[], bool] = lambda: True,
    ) -> None:
        self._listening = listening
        self._can_be_found = can_be_found
        #: What the timekeeper does about once a second while anything happens.
        self.chore: Callable[[], None] | None = None
        self._next_chore = 0.0
        self._warden = warden or HangTimer()
        self._door = listening.fileno()
        #: The number of a client from which on there is no room: the system always gives the lowest that is free.
        self.full = descriptor_limit()
        self._idle = idle
        self._finish = finish
        self._pool = ThreadPool()
        self._callers = Callers()
        self.service = DaemonService(self.end, self.make_way)
        #: Guards who leads, and what is being served: only a thread that serves can lose the lead.
        self._lock = threading.Lock()
        self._leader = 0
        self._serving: dict[int, ClientConnection] = {}
        #: Answered, but with something left to do.
        self._unfinished = 0
        self._ended = False
        self._latest = monotonic()
        # The leader's own: what it waits for, who has not said everything, and who waits for an answer.
        self._poll = select.poll()
        self._waking, self._wake = os.pipe()
        self._half: dict[int, PartialRequest] = {}
        self._heard: deque[ClientConnection] = deque()
        self._turns, self._crowd = 0, True
        #: Answers that are ready, while others who were heard with them are served.
        self._held: deque[tuple[ClientConnection, bytes]] = deque()
        #: Held while there is no news for the timekeeper.
        self._bell = threading.Lock()
        self._bell.acquire()
        self._parked = False

    def run(self) -> None:
        """In the main thread, which keeps the time and hears the signals."""
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
            with contextlib.suppress(ValueError):
                signal.signal(number, lambda *_: self.end())
        self._poll.register(self._door, select.POLLIN)
        self._poll.register(self._waking, select.POLLIN)
        try:
            self._pool.submit(self._lead)
            self._keep_time()
            self._wait_for_the_rest()
        finally:
            self._pool.close()
            self.service.shelf.close()

    def end(self) -> None:
        """From any thread, and from a signal, which may interrupt anything: take no more, finish what there is."""
        self._ended = True
        os.write(self._wake, b"!")
        self._ring()

    def make_way(self) -> None:
        """What this thread serves takes longer: if it leads, somebody else does from now on."""
        with self._lock:
            if self._leader != get_ident():
                return
            self._leader = 0
        self._hand_out()
        self._pool.submit(self._lead)

    # ── the leader ───────────────────────────────────────────────────────────────────────────────────

    def _lead(self) -> None:
        me = self._leader = get_ident()  # whoever asked for us has left the place empty
        try:
            while self._leader == me:
                if self._heard:
                    self._serve(self._heard.popleft(), me)
                elif self._ended:
                    self._close()
                else:
                    self._listen()
        except Exception:  # a bug of ours; there must always be one who leads
            traceback.print_exc()
            time.sleep(_TICK)
        finally:
            self.make_way()

    def _listen(self) -> None:
        """Hear everybody who is there. Whatever was changed before one of them spoke is looked at after that."""
        ready = self._poll.poll(1000 if self._half else None)
        while ready and len(self._heard) < _AT_A_TIME:
            for number, _ in ready:
                if number == self._door:
                    # That nobody else is there costs more to be told than one more turn, unless they come in crowds.
                    while self._knocked() and len(self._heard) < _AT_A_TIME and self._crowd:
                        pass
                elif number == self._waking:
                    return
                elif number in self._half:
                    self._more(number)
            ready = self._poll.poll(0) if self._half else []
        if self._half:
            self._drop_the_silent()
        self._turns += 1
        self._crowd = len(self._heard) > 1 or self._turns % _LOOK_UP == 0
        self.service.look_again()

    def _knocked(self) -> bool:
        """Whether there was somebody at the door."""
        try:
            client = accept_client(self._listening)
        except BlockingIOError:
            return False
        except OSError:  # out of descriptors: some will be closed
            self._drop_the_silent(_HURRY)
            time.sleep(0.01)
            return False
        if client.fileno() >= self.full:
            self._drop_the_silent(_HURRY)
            client.close()  # it does without us
        elif not is_own_user(client):
            client.close()
        else:
            self._hear(client, b"")
        return True

    def _more(self, number: int) -> None:
        half = self._half[number]
        self._hear(half.client, half.said, half)

    def _hear(self, client: SocketType, said: bytes | bytearray, half: PartialRequest | None = None) -> None:
        """What the client says now, after what it has ``said``: usually everything, and at once."""
        try:
            data = client.recv(_CHUNK, socket.MSG_DONTWAIT)
            if half is not None:
                half.said += data
            request = self._callers.request(said or data) if data else None
        except BlockingIOError:
            data, request = b"?", None
        except BadFrame as bad:
            self._forget(client)
            ClientConnection(client).answer(pack_refusal(str(bad)))
            return
        except OSError:
            data, request = b"", None
        if request is not None:
            if half is not None:
                self._forget(client)
            self._heard.append(ClientConnection(client, request))
        elif not data:
            self._forget(client)
            client.close()
        elif half is None:
            self._half[client.fileno()] = PartialRequest(client, b"" if data == b"?" else data)
            self._poll.register(client.fileno(), select.POLLIN)

    def _forget(self, client: SocketType) -> None:
        if self._half.pop(client.fileno(), None) is not None:
            self._poll.unregister(client.fileno())

    def _drop_the_silent(self, seconds: float = _REQUEST) -> None:
        now = monotonic()
        for half in [half for half in self._half.values() if half.since + seconds < now]:
            self._forget(half.client)
            half.client.close()

    def _serve(self, served: ClientConnection, me: int) -> None:
        now = self._latest = monotonic()
        if has_hung_up(served.client):  # it does without us: its hooks must not run twice
            served.client.close()
            if not self._heard:
                self._hand_out()
            return
        assert served.request is not None
        served.began = now
        self._serving[me] = served
        if self._parked:
            self._warden.wind(now)  # by ourselves: beside a call that lets nobody run, the timekeeper gets no turn
            self._ring()
        later: Callable[[], None] | None = None
        try:
            answer, later = self.service.answer(served.request, served.asker)
            self._held.append((served, answer))
        finally:
            with self._lock:
                del self._serving[me]
                self._unfinished += later is not None
        if later is not None or not self._heard or self._leader != me:
            self._hand_out()
        if later is not None:
            self._pool.submit(lambda: self._finish_up(later))
        if not self._heard:  # nobody waits for an answer meanwhile
            self._tidy(served, me)

    def _tidy(self, answered: ClientConnection, me: int) -> None:
        """As long as that takes, it counts as serving: a file that somebody has locked must not keep us all."""
        answered.began = monotonic()
        self._serving[me] = answered
        try:
            self.service.tidy()
        finally:
            with self._lock:
                del self._serving[me]

    def _hand_out(self) -> None:
        """Answers to all who were heard together go together: one who is answered asks again at once, and takes the
        processor from those who still wait. Before anything slow, and when the leader is stuck, they go as they are."""
        while self._held:
            try:
                served, answer = self._held.popleft()
            except IndexError:  # another thread was quicker
                return
            served.answer(answer)

    def _finish_up(self, later: Callable[[], None]) -> None:
        try:
            later()
        finally:
            with self._lock:
                self._unfinished -= 1

    def _close(self) -> None:
        self._leader = 0
        self._listening.close()
        for half in self._half.values():
            half.client.close()

    # ── the timekeeper ───────────────────────────────────────────────────────────────────────────────

    def _keep_time(self) -> None:
        while not self._ended:
            now = monotonic()
            self._warden.wind(now)
            self._depose(now)
            if self.chore is not None and now >= self._next_chore:
                self._next_chore = now + _CHORE
                self.chore()
            for thread, served in tuple(self._serving.items()):
                if served.began + _PATIENCE < now:
                    served.accept()
                if self.service.shelf.deadlines.overdue(thread):  # it cannot be ended, but its caller need not wait
                    served.answer(pack_refusal("a hook hangs"))
            if self._serving or now < self._latest + LINGER:
                self._sleep(_TICK)
            elif now < self._latest + self._idle and self._can_be_found():
                nap = min(self._latest + self._idle - now, _DOZE if self._unfinished else _NAP)
                self._warden.rest(nap)
                self._parked = True  # from now on whoever serves rings
                self._sleep(0 if self._serving else nap)
                self._parked = False
            else:
                self.end()

    def _depose(self, now: float) -> None:
        """A leader that is stuck goes on as a follower, and another one leads."""
        with self._lock:
            served = self._serving.get(self._leader)
            if served is None or served.began + _STUCK > now:
                return
            self._leader = 0
        self._hand_out()
        self._pool.submit(self._lead)

    def _wait_for_the_rest(self) -> None:
        until = monotonic() + self._finish
        while (self._serving or self._unfinished or self._heard or self._leader) and monotonic() < until:
            now = monotonic()
            self._warden.wind(now)
            self._depose(now)
            for served in tuple(self._serving.values()):
                if served.began + _PATIENCE < now:
                    served.accept()
            time.sleep(0.01)

    def _sleep(self, seconds: float) -> None:
        self._bell.acquire(timeout=seconds)

    def _ring(self) -> None:
        with contextlib.suppress(RuntimeError):  # it has been rung already
            self._bell.release()
