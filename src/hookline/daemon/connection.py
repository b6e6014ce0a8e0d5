"""One client connection: who is at the other end, whether it is still there, and what we send to it."""

from __future__ import annotations

import contextlib
import os
import resource
import select
import socket
import sys
import threading
from socket import SocketType
from time import monotonic
from typing import Any

from hookline.daemon.protocol import ACCEPTED, DaemonRequest

#: Seconds a client may leave an answer unread.
_UNREAD = 10.0
#: Descriptors that are left to engines and hooks: with fewer they would fail, where a client alone would not.
_RESERVE = 32

#: Whether the system names the process at the other end, and this user as the system writes it.
_HAS_PEER = hasattr(socket, "SO_PEERCRED")
_US = os.geteuid().to_bytes(4, sys.byteorder)


class PartialRequest:
    """A client that has sent only a part of its request."""

    __slots__ = ("caller", "client", "data", "since")

    def __init__(self, client: SocketType, caller: int, data: bytes) -> None:
        self.client = client
        self.caller = caller
        self.data = bytearray(data)
        self.since = monotonic()


class ClientConnection:
    """What one client gets: perhaps a sign that it was accepted, and one answer. Used by several threads.

    ``caller`` is the process at the other end; 0 where the system does not say.
    """

    __slots__ = ("_accepted", "_lock", "_over", "began", "caller", "client", "request")

    def __init__(self, client: SocketType, request: DaemonRequest | None = None, caller: int = 0) -> None:
        self.client = client
        self.request = request
        self.caller = caller
        self.began = monotonic()
        self._lock = threading.Lock()
        self._accepted = False
        self._over = False

    def accept(self) -> None:
        with self._lock, contextlib.suppress(OSError):
            if not self._over and not self._accepted:
                self._accepted = True
                self.client.send(ACCEPTED, socket.MSG_DONTWAIT)

    def caller_pid(self) -> int:
        return self.caller

    def answer(self, answer: bytes) -> None:
        """Only the first answer is sent: a request that was given up is not answered again."""
        with self._lock:
            over, self._over = self._over, True
        if not over:
            _send(self.client, answer)


def accept_client(listening: Any) -> SocketType:
    """A bare socket: the wrapper of the standard library costs as much as accepting."""
    handle, _ = listening._accept()  # noqa: SLF001  the only way to a bare socket, and no stub knows it
    return SocketType(socket.AF_UNIX, socket.SOCK_STREAM, 0, handle)


def descriptor_limit() -> int:
    """How many descriptors may be open when another client is accepted."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if most == resource.RLIM_INFINITY else most - min(_RESERVE, most // 4)


def own_process(client: SocketType) -> int | None:
    """The process at the other end, None if it is another user's: only this user may connect. Where the system does not
    say, it is 0, and the directory's permissions have decided."""
    if not _HAS_PEER:
        return 0
    peer = client.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)  # process, user, group
    return int.from_bytes(peer[:4], sys.byteorder) if peer[4:8] == _US else None


def has_hung_up(client: SocketType) -> bool:
    """Whether the other end is closed altogether, and not only silent."""
    # Checked every time, for a microsecond: a daemon that was frozen cannot know how long a request has waited.
    poll = select.poll()
    poll.register(client, 0)  # hang-ups and errors are reported in any case
    return bool(poll.poll(0))


def _send(client: SocketType, answer: bytes) -> None:
    """To a client that may be gone, or may not read."""
    try:
        sent = client.send(answer, socket.MSG_DONTWAIT)
    except BlockingIOError:
        sent = 0
    except OSError:
        sent = len(answer)
    if sent == len(answer):
        client.close()
    else:
        threading.Thread(target=_send_slowly, args=(client, answer[sent:]), name="hookline-answer", daemon=True).start()


def _send_slowly(client: SocketType, answer: bytes) -> None:
    left = memoryview(answer)
    poll = select.poll()
    poll.register(client, select.POLLOUT)
    with contextlib.closing(client), contextlib.suppress(OSError):
        while left and poll.poll(_UNREAD * 1000):
            left = left[client.send(left, socket.MSG_DONTWAIT) :]
