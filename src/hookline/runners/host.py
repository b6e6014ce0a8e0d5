"""Hooks in a person's own run: what the program that they were written for lets them do there, and agents do not.

They get the terminal, may leave processes behind, may print much, and are waited for as long as somebody may still
write to their output. Ctrl-C then ends the waiting.
"""

from __future__ import annotations

import os
import signal
import sys
import termios
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from typing import Any

from hookline.runners.base import Stop

#: Bytes of output that are kept; the same as what is spilled of any other hook.
_OUTPUT = 64 << 20
#: Seconds after which the person is told what is waited for.
_PATIENCE = 2.0
#: Seconds in which a process that was started last becomes what it is to be: nohup, or another session.
_SETTLE = 0.5
_MASK = {signal.SIGTTOU}


class Terminal:
    """The controlling terminal, which one hook at a time gets."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._lock = threading.Lock()
        self._mode: list[Any] = []

    @classmethod
    def find(cls) -> Terminal | None:
        """None where there is none, or where it belongs to another program now."""
        try:
            descriptor = os.open("/dev/tty", os.O_RDWR | os.O_NOCTTY | os.O_CLOEXEC)
        except OSError:
            return None
        try:
            if os.tcgetpgrp(descriptor) == os.getpgrp():
                return cls(descriptor)
        except OSError:
            pass
        os.close(descriptor)
        return None

    def borrow(self) -> bool:
        """Whether the caller has it now, and must ``give_back``."""
        if not self._lock.acquire(blocking=False):
            return False
        try:
            if os.tcgetpgrp(self._descriptor) == os.getpgrp():
                self._mode = termios.tcgetattr(self._descriptor)
                return True
        except (OSError, termios.error):
            pass
        self._lock.release()
        return False

    def enter(self) -> None:
        """In the child, before it becomes the hook: it would be stopped if it read before its group is in front.
        Ctrl-Z is kept back: nobody could bring the hook to the front again."""
        signal.pthread_sigmask(signal.SIG_SETMASK, _MASK)
        with suppress(OSError):
            os.tcsetpgrp(self._descriptor, os.getpid())
        signal.pthread_sigmask(signal.SIG_SETMASK, {signal.SIGTSTP})

    def give_back(self) -> None:
        """Our group is in front again, with the terminal as it was, whatever the hook did to it."""
        before = signal.pthread_sigmask(signal.SIG_BLOCK, _MASK)
        try:
            os.tcsetpgrp(self._descriptor, os.getpgrp())
            termios.tcsetattr(self._descriptor, termios.TCSADRAIN, self._mode)
        except (OSError, termios.error):  # hung up
            pass
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
            self._lock.release()


class Host:
    """One run. ``tell`` writes to the person; ``interrupt`` is called when a hook was ended by Ctrl-C."""

    output = _OUTPUT
    patience = _PATIENCE

    def __init__(self, tell: Callable[[str], None], interrupt: Callable[[], None], terminal: Terminal | None) -> None:
        self.tell = tell
        self.interrupt = interrupt
        self.terminal = terminal
        self._waits: list[Stop] = []

    @staticmethod
    def end_attached(group: int) -> None:
        """Of what a hook left behind, only what was properly detached stays: in a session of its own, or under nohup.
        Its leader has been waited for, so that the group's number is in use only while others are in it."""
        until = time.monotonic() + _SETTLE
        while _exists(group) and not _all_ignore_hangup(group) and time.monotonic() < until:
            time.sleep(0.01)
        if _exists(group):
            os.killpg(group, signal.SIGHUP)

    def wait(self, output: int) -> Stop:
        """Say who holds the output of a hook that has ended; what comes back is set when nobody wants to wait."""
        holders = ", ".join(f"{pid} ({name})" for pid, name in _holders(output)) or "a process"
        self.tell(f"waiting for the output of a hook that has ended: {holders} may still write to it; Ctrl-C goes on")
        stop = Stop()
        self._waits.append(stop)
        return stop

    def waited(self, stop: Stop) -> None:
        """It is over: Ctrl-C ends the run again."""
        self._waits = [one for one in self._waits if one is not stop]

    def end_waits(self) -> bool:
        """Whether anything was waited for."""
        waits, self._waits = self._waits, []
        for stop in waits:
            stop.set()
        return bool(waits)


def _holders(output: int) -> Iterator[tuple[int, str]]:
    """The processes that have the other end of a pipe open."""
    pipe = f"pipe:[{os.fstat(output).st_ino}]"
    for pid in _processes():
        folder = f"/proc/{pid}/fd"
        try:
            if pid != os.getpid() and any(os.readlink(f"{folder}/{one}") == pipe for one in os.listdir(folder)):
                yield pid, _read(f"/proc/{pid}/comm").strip()
        except OSError:
            continue


def _processes() -> list[int]:
    return [int(name) for name in os.listdir("/proc") if name.isdigit()] if sys.platform == "linux" else []


def _read(path: str) -> str:
    with open(path, encoding="utf-8", errors="replace") as file:
        return file.read()


def _exists(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except OSError:
        return False
    return True


def _all_ignore_hangup(group: int) -> bool:
    members = [pid for pid in _processes() if _group_of(pid) == group]
    return bool(members) and all(_ignores_hangup(pid) for pid in members)


def _group_of(pid: int) -> int:
    try:
        return os.getpgid(pid)
    except OSError:
        return -1


def _ignores_hangup(pid: int) -> bool:
    try:
        lines = _read(f"/proc/{pid}/status").splitlines()
    except OSError:
        return False
    ignored = next((line.split()[1] for line in lines if line.startswith("SigIgn:")), "0")
    return bool(int(ignored, 16) & 1 << signal.SIGHUP - 1)
