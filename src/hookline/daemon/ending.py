"""The end of a daemon, whatever state it is in: it is asked, then told, then killed."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import time
from typing import TYPE_CHECKING, Literal, NamedTuple

from hookline.daemon.life import ask, is_held
from hookline.daemon.sign import signer

if TYPE_CHECKING:
    from hookline.daemon.place import Place

#: Seconds for a daemon that has heard us: it finishes what it does, for a minute at most.
WAIT = 70.0
#: Seconds for one that has not: to show that it has heard the signal, and to be gone after the last one.
GRACE = 3.0


class Ended(NamedTuple):
    """``how`` is what it took; "alive" when nothing did. ``pid`` is 0 where nobody had to know it."""

    how: Literal["not running", "asked", "terminated", "killed", "alive"]
    pid: int = 0


def stop(place: Place, *, wait: float = WAIT, grace: float = GRACE) -> Ended:
    """Let the daemon finish what it does and end. One that does not is ended, if it is certain which process it is."""
    if not is_held(place):
        return Ended("not running")
    heard = ask(place, "stop") is not None
    if heard and _gone(place, wait):
        return Ended("asked")
    pid = signer(place)
    if pid is None:
        return Ended("asked" if _gone(place, grace) else "alive")
    if _sent(place, pid, signal.SIGTERM, grace):
        return Ended("terminated", pid)
    if not heard and _has_closed(place) and _gone(place, wait):  # of another version: it finishes what it does, too
        return Ended("terminated", pid)
    return Ended("killed" if _sent(place, pid, signal.SIGKILL, grace) else "alive", pid)


def _sent(place: Place, pid: int, number: int, grace: float) -> bool:
    """Whether it is gone after that. Looked at once more: between two steps it may have ended, and another begun."""
    if signer(place) == pid:
        with contextlib.suppress(OSError):
            os.kill(pid, number)
    return _gone(place, grace)


def _has_closed(place: Place) -> bool:
    """Whether it takes no more requests: the sign that it has heard."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as sock:
        sock.setblocking(False)
        try:
            sock.connect(place.socket)
        except (ConnectionRefusedError, FileNotFoundError):
            return True
        except OSError:  # too many wait at its door
            return False
    return False


def _gone(place: Place, seconds: float) -> bool:
    until = time.monotonic() + seconds
    while is_held(place):
        if time.monotonic() > until:
            return False
        time.sleep(0.02)
    return True
