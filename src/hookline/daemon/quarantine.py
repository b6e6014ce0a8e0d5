"""Functions that have hung a whole daemon: from then on they run in their own process, until they are changed.

The next daemon reads what the hang timer wrote when it ended the last one. That file, beside the socket, is the memory.
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

from hookline.core.files import open_without_waiting
from hookline.core.hook import Function, HookSpec
from hookline.runners.function import module_exists

#: Seconds of CPU time without a turn of the timekeeper that end the daemon: clients are gone after two.
_CPU_SECONDS = 5.0
#: The same by the clock.
_WALL_SECONDS = 60.0
#: Seconds between two resets.
_RESET_EVERY = 1.0


class HangTimer:
    """Ends the daemon when a C call holds the interpreter for good: a regular expression that never finishes, say.

    No thread of ours can notice that, and no Python signal handler: both need the interpreter. So two timers of the
    system run towards the end of the process, and the timekeeper resets them as long as it gets its turns. One counts
    CPU time, so that neither a busy machine nor a stopped daemon triggers it; the other one, far longer, is for a call
    that waits. The handler of both is the interpreter's own, written in C: it writes where every thread is, then lets
    the signal act. Without a file to write to, nothing is watched.
    """

    __slots__ = ("_active", "_again")

    def __init__(self, file: int | None = None) -> None:
        self._active = file is not None
        self._again = 0.0
        if file is not None:
            for number in (signal.SIGPROF, signal.SIGALRM):
                faulthandler.register(number, file=file, all_threads=True, chain=True)

    def reset(self, now: float) -> None:
        """Reset the timers; from any thread, and cheap however often."""
        if self._active and now >= self._again:
            self._again = now + _RESET_EVERY
            signal.setitimer(signal.ITIMER_PROF, _CPU_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, _WALL_SECONDS)

    def rest(self, seconds: float) -> None:
        """The timekeeper sleeps for so long. A daemon without work may be stopped for any time."""
        if self._active:
            self._again = 0.0
            signal.setitimer(signal.ITIMER_PROF, seconds + _CPU_SECONDS)
            signal.setitimer(signal.ITIMER_REAL, 0)


#: Seconds after which a function gets another chance: what hung may be something that it only used.
REMEMBERED = 86_400.0
#: Bytes beyond which the file starts over.
_MOST = 1 << 18
#: Written after what has been reported. The text is in files of earlier versions.
_REPORTED = "── told ──\n"

_FRAME = re.compile(r'^  File "(.*)", line (\d+) in (.*)$', re.MULTILINE)
OURS = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep
LIBRARY = os.path.dirname(os.__file__) + os.sep


class _Frame(NamedTuple):
    file: str
    line: str
    function: str


class Quarantine:
    """``files`` are those whose code was running when a daemon hung, at the time ``since``."""

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
    """The file for the hang timer, what is remembered, and what to report about the last daemon ("": nothing).

    Where the file cannot be used, stderr takes its place, and nothing is remembered.
    """
    try:
        text, since = _read_file(path)
        file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        if not text:
            os.ftruncate(file, 0)
    except OSError:
        return 2, Quarantine(), ""
    latest = text.rpartition(_REPORTED)[2]
    if latest:
        with contextlib.suppress(OSError):
            os.write(file, _REPORTED.encode())
    return file, Quarantine(frozenset(frame.file for frame in _foreign_frames(text)), since), _report(latest)


def _read_file(path: str) -> tuple[str, float]:
    try:
        with open(path, encoding="utf-8", errors="replace", opener=open_without_waiting) as file:
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
    then = "; that function runs in its own process until you change it" if where else ""
    return f"the last daemon was ended because it hung {what}{then}"


def _foreign_frames(text: str) -> list[_Frame]:
    """The frames of hooks, innermost first. Usually it is the thread that was stopped; else it may be any."""
    threads = re.split(r"^(?=Current thread |Thread )", text, flags=re.MULTILINE)
    current = [thread for thread in threads if thread.startswith("Current")]
    for some in (current, threads):
        found = [frame for thread in some for frame in _hook_frames(thread)]
        if found:
            return found
    return []


def _hook_frames(thread: str) -> Iterator[_Frame]:
    for file, line, function in _FRAME.findall(thread):
        if file.startswith(OURS):
            return
        if not file.startswith("<") and (not file.startswith(LIBRARY) or "-packages" in file):
            yield _Frame(file, line, function)


def _module(action: Function) -> Iterator[str]:
    """Where its module may be; nothing of it is run."""
    name = action.target.partition(":")[0]
    if action.base and module_exists(action.base, name):
        stem = os.path.join(action.base, *name.split("."))
        yield from (f"{stem}.py", os.path.join(stem, "__init__.py"))
    else:
        known = sys.modules.get(name)
        if known is not None:
            yield getattr(known, "__file__", None) or ""
            return
        from importlib.util import find_spec  # only after a hang

        with contextlib.suppress(Exception):  # whatever the packages above it do
            found = find_spec(name)
            yield (found.origin or "") if found else ""


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_ctime
    except OSError:
        return 0.0
