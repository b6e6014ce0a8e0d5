"""Which functions have held a whole daemon: they run in a process of their own from then on, until they are changed.

What the warden wrote when it ended a daemon is read by the next one. It is the memory too: a file beside the socket.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import re
import signal
import sys
import time
from collections.abc import Iterator
from typing import NamedTuple

from hookline.core.hook import Function, HookSpec
from hookline.runners.function import module_exists

#: Seconds of computing without a turn of the timekeeper that end the daemon: clients are gone after two.
_BURNT = 5.0
#: Seconds by the clock.
_SILENT = 60.0
#: Seconds between two windings.
_AGAIN = 1.0


class HangTimer:
    """Without a file to write to, nothing is watched."""

    __slots__ = ("_again", "_stands")

    def __init__(self, file: int | None = None) -> None:
        self._stands = file is not None
        self._again = 0.0
        if file is not None:
            for number in (signal.SIGPROF, signal.SIGALRM):
                faulthandler.register(number, file=file, all_threads=True, chain=True)

    def wind(self, now: float) -> None:
        """Whoever calls this has a turn; from any thread, and cheap as often as one likes."""
        if self._stands and now >= self._again:
            self._again = now + _AGAIN
            signal.setitimer(signal.ITIMER_PROF, _BURNT)
            signal.setitimer(signal.ITIMER_REAL, _SILENT)

    def rest(self, seconds: float) -> None:
        """The timekeeper sleeps for so long. A daemon without work may be stopped for as long as anybody likes."""
        if self._stands:
            self._again = 0.0
            signal.setitimer(signal.ITIMER_PROF, seconds + _BURNT)
            signal.setitimer(signal.ITIMER_REAL, 0)


#: Seconds after which it is tried again: what hung may have been something that the function only used.
REMEMBERED = 86_400.0
#: Bytes beyond which the memory begins anew.
_MOST = 1 << 18
#: Written behind what has been reported.
_TOLD = "── told ──\n"

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
LIBRARY = os.path.dirname(os.__file__) + os.sep


class _Frame(NamedTuple):
    file: str
    line: str
    function: str


class Quarantine:
    """``files`` are those with code that was being carried out when a daemon hung, as of the moment ``since``."""

    __slots__ = ("files", "since")

    def __init__(self, files: frozenset[str] = frozenset(), since: float = 0.0) -> None:
        self.files = files
        self.since = since

    def holds(self, spec: HookSpec) -> bool:
        """Whether this hook is a function that hung, and nobody has touched it since."""
        action = spec.action
        if not self.files or not isinstance(action, Function):
            return False
        return any(path in self.files and _changed(path) <= self.since for path in _module(action))


def open_quarantine(path: str) -> tuple[int, Quarantine, str]:
    """The file for the warden, what is remembered, and what is to be told of the daemon before this one ("": nothing).

    Where the file cannot be had, the error output takes its place, and nothing is remembered.
    """
    try:
        text, since = _kept(path)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if not text:
            os.ftruncate(file, 0)
    except OSError:
        return 2, Quarantine(), ""
    latest = text.rpartition(_TOLD)[2]
    if latest:
        with contextlib.suppress(OSError):
            os.write(file, _TOLD.encode())
    return file, Quarantine(frozenset(frame.file for frame in _foreign_frames(text)), since), _report(latest)


def _kept(path: str) -> tuple[str, float]:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            status = os.fstat(file.fileno())
            text = file.read(_MOST + 1)
    except FileNotFoundError:
        return "", 0.0
    fresh = len(text) <= _MOST and time.time() - REMEMBERED < status.st_mtime
    return (text, status.st_mtime) if fresh else ("", 0.0)


def _report(text: str) -> str:
    if not text:
        return ""
    where = [f"{name} ({file}, line {line})" for file, line, name in _foreign_frames(text)][:3]
    what = f"in {', called by '.join(where)}" if where else f"in hookline itself: {text[:2000]}"
    then = "; that function runs in a process of its own until it is changed" if where else ""
    return f"the daemon before this one was ended because it hung {what}{then}"


def _foreign_frames(text: str) -> list[_Frame]:
    """Where hooks were, innermost first. The thread that the system stopped is usually the one; else any may be."""
    threads = re.split(r"^(?=Current thread |Thread )", text, flags=re.MULTILINE)
    current = [thread for thread in threads if thread.startswith("Current")]
    for some in (current, threads):
        found = [frame for thread in some for frame in _beyond_us(thread)]
        if found:
            return found
    return []


def _beyond_us(thread: str) -> Iterator[_Frame]:
    for file, line, function in _FRAME.findall(thread):
        if file.startswith(OURS):
            return
        if not file.startswith("<") and (not file.startswith(LIBRARY) or "-packages" in file):
            yield _Frame(file, line, function)


def _module(action: Function) -> Iterator[str]:
    """Where its module may be; nothing of it is carried out."""
    name = action.target.partition(":")[0]
    if action.base and module_exists(action.base, name):
        stem = os.path.join(action.base, *name.split("."))
        yield from (f"{stem}.py", os.path.join(stem, "__init__.py"))
    else:
        known = sys.modules.get(name)
        if known is not None:
            yield getattr(known, "__file__", None) or ""
            return
        from importlib.util import find_spec  # only where something has hung

        with contextlib.suppress(Exception):  # whatever the packages above it do
            found = find_spec(name)
            yield (found.origin or "") if found else ""


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_ctime
    except OSError:
        return 0.0
