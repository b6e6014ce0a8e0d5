"""Waiting for what must come, on a machine that may be slow and busy with other things."""

from __future__ import annotations

import os
import signal
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

T = TypeVar("T")

#: Seconds that a busy machine may need for what takes no time on an idle one. What waits for a program or a server
#: that never ends by itself takes a minute and more, so that the two are never mistaken for one another.
SOON = 25.0


def eventually(ask: Callable[[], T], seconds: float = 60.0) -> T:
    """The first answer that is true; after so many seconds the last one, for the caller to be disappointed by."""
    until = time.monotonic() + seconds
    while not (answer := ask()) and time.monotonic() < until:
        time.sleep(0.01)
    return answer


def alive(pid: int) -> bool:
    """Whether the process runs. One that has ended and that nobody has asked about yet has only its number left."""
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] not in {"Z", "X"}
    except OSError:
        return False


def freeze(pid: int) -> None:
    """Stop a process in its tracks. The signal alone is not enough: until the thread that takes it has had its turn, which
    may be late on a busy machine, the other threads go on."""
    os.kill(pid, signal.SIGSTOP)
    assert eventually(lambda: _states(pid) <= {"T"}), f"process {pid} is not stopped"


def _states(pid: int) -> set[str]:
    states = set()
    for thread in os.listdir(f"/proc/{pid}/task"):
        with suppress(OSError), open(f"/proc/{pid}/task/{thread}/stat", encoding="utf-8") as file:
            states.add(file.read().rpartition(")")[2].split()[0])
    return states


def open_files() -> Counter[str]:
    """What the descriptors of this process lead to: a pipe and a socket are told apart from all others."""
    found: Counter[str] = Counter()
    for number in os.listdir("/proc/self/fd"):
        with suppress(OSError):  # the one with which this list was read
            found[os.readlink(f"/proc/self/fd/{number}")] += 1
    return found
