"""Which process holds the lock of a daemon: only for who must end one that does not answer.

The lock file says it, in words that name no other process, and counts only as long as the lock is held.
"""

from __future__ import annotations

import contextlib
import os
import socket
import sys
from typing import TYPE_CHECKING

from hookline.runners.spawn import mark_process, pid_from_mark

if TYPE_CHECKING:
    from hookline.daemon.socket_path import DaemonPaths


def write_pid(lock: int) -> None:
    """Say in the lock that we hold who we are. A disk that is full costs no daemon."""
    with contextlib.suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{mark_process(os.getpid())}\n".encode(), 0)


def lock_holder(place: DaemonPaths) -> int | None:
    """The process that signed the lock, if it is still the same one; where nobody could, the one that listens."""
    try:
        with open(place.lock, encoding="ascii", errors="replace") as file:
            pid = pid_from_mark(file.read(200))
    except OSError:
        pid = None
    return socket_owner(place) if pid is None else pid


def socket_owner(place: DaemonPaths) -> int | None:
    """Who listens on the socket, as the system says; None where nobody does, or it does not say."""
    if not hasattr(socket, "SO_PEERCRED"):
        return None
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(place.socket)
            told = sock.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12)
        except OSError:
            return None
    pid, user = (int.from_bytes(told[at : at + 4], sys.byteorder) for at in (0, 4))
    return pid if pid > 1 and user == os.geteuid() else None
