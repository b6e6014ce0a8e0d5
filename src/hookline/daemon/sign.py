"""Which process holds the lock of a daemon: only for who must end one that does not answer.

A number alone names nobody, since it may have been given to another process; with the moment at which that process
began it does. Both stand in the lock file, and count only as long as the lock is held.
"""

from __future__ import annotations

import contextlib
import os
import socket
import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hookline.daemon.place import Place


def signed(lock: int) -> None:
    """Say in the lock that we hold who we are. A disk that is full costs no daemon."""
    with contextlib.suppress(OSError):
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"{os.getpid()} {began(os.getpid())}\n".encode(), 0)


def signer(place: Place) -> int | None:
    """The process that signed the lock, if it is still the same one; where nobody could, the one that listens."""
    try:
        with open(place.lock, encoding="ascii", errors="replace") as file:
            number, _, then = file.read(200).strip().partition(" ")
        pid = int(number)
    except (OSError, ValueError):
        pid, then = 0, ""
    if pid > 1 and then and began(pid) == then:
        return pid
    return listener(place)


def began(pid: int) -> str:
    """A word that no other process of this number has ("" where there is none)."""
    if sys.platform != "linux":
        told = subprocess.run(["/bin/ps", "-o", "lstart=", "-p", str(pid)], capture_output=True, text=True, check=False)
        return told.stdout.strip()
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            fields = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return "" if fields[0] in "ZX" else fields[19]


def listener(place: Place) -> int | None:
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
