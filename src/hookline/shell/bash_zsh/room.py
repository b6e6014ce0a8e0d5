"""Where a shell and the process beside it meet: a private folder with their pipes, and what is known of directories.

``idle/DIRECTORY`` exists as long as nothing is hooked there; a shell that finds it asks nothing. ``same/DIRECTORY`` exists
as long as what the shell was told about it is true. ``known/DIRECTORY``,
beside the rooms, is for shells that start: what was hooked, and the files that said so.
"""

from __future__ import annotations

import os
import shutil
import signal
import time
from collections.abc import Iterable
from contextlib import suppress

from hookline.core.file_watch import FileWatcher
from hookline.core.files import is_alive, list_names, prune, read_text, replace_atomically
from hookline.core.paths import private_dir

#: Directories in which nothing is hooked, and those of which the shell knows what is.
_MARKS = ("idle", "same")
#: Seconds that a replaced process has for its end.
_HAND_OVER = 3.0
#: Directories that are remembered, and for how many days.
_KEPT, _DAYS = 500, 90
#: The longest name of a file.
_LONGEST = 255


class Room:
    """``asks``, ``answers`` and ``token`` are open pipes."""

    def __init__(self, path: str, pid: int, reason: str) -> None:
        self.path = path
        self._home = private_dir(os.path.dirname(path))
        for name in list_names(self._home):
            if name.startswith(f"{pid}-") and name != os.path.basename(path):
                _take_over(os.path.join(self._home, name), reason)
        private_dir(path)
        for name in _MARKS:
            private_dir(os.path.join(path, name))
        private_dir(os.path.join(self._home, "known"))
        self.asks, self.answers, self._token = (self._pipe(name) for name in ("asks", "answers", "token"))
        os.write(self._token, b".")
        self._watcher = FileWatcher()
        self._number = 0
        #: Directory -> what the shell was told about it.
        self._told: dict[str, str] = {}
        self._watched: frozenset[str] = frozenset()
        #: Where changes cannot be watched, the files must be looked at from time to time.
        self.covered = True

    def _pipe(self, name: str) -> int:
        path = os.path.join(self.path, name)
        os.mkfifo(path, 0o600)
        return os.open(path, os.O_RDWR | os.O_CLOEXEC)

    def open(self) -> None:
        """The shell may ask from now on."""
        replace_atomically(os.path.join(self.path, "ready"), f"{os.getpid()}\n")

    @property
    def watch(self) -> int:
        return self._watcher.handle

    def learn(self, cwd: str, needs: str, files: Iterable[str], began: float) -> None:
        """What is hooked in a directory, and the files that this depends on."""
        name = cwd.replace("/", "%")
        if self._told.get(name) == needs and os.path.exists(os.path.join(self.path, _MARKS[1], name)):
            return
        self._told[name] = needs
        self._watched |= frozenset(files)
        self.covered = self._watcher.cover(self._watched)  # what changed since they were read is seen by the next look
        if len(os.fsencode(name)) > _LONGEST or "\n" in cwd:
            return
        with suppress(OSError):
            os.unlink(os.path.join(self.path, _MARKS[0], name))
        for mark in _MARKS if not needs.strip() else _MARKS[1:]:
            with suppress(OSError), open(os.path.join(self.path, mark, name), "w", encoding="utf-8"):
                pass
        marks = (f"{'+' if os.path.exists(file) else '-'}{file}" for file in sorted(files) if "\n" not in file)
        known = os.path.join(self._home, "known", name)
        text = "\n".join((needs, *marks, ""))
        with suppress(OSError, UnicodeError):
            if read_text(known) != text:
                replace_atomically(known, text)
            os.utime(known, (began, began))

    def changed(self) -> bool:
        """Some file has changed since the last look, so nothing is known any more."""
        if self._watcher.look() == self._number:
            return False
        self._number = self._watcher.number
        self.forget()
        return True

    def forget(self) -> None:
        for mark in _MARKS:
            for name in list_names(os.path.join(self.path, mark)):
                with suppress(OSError):
                    os.unlink(os.path.join(self.path, mark, name))

    def doubt(self) -> None:
        """What was learned last may be outdated: the next look counts as a change."""
        self._number = -1
        self.forget()

    def replaced_because(self) -> str:
        """Why another process took over; "" if none did."""
        return (read_text(os.path.join(self.path, "replaced")) or "").strip()

    def close(self) -> None:
        shutil.rmtree(self.path, ignore_errors=True)
        prune(os.path.join(self._home, "known"), keep=_KEPT, days=_DAYS, now=time.time())


def _take_over(room: str, reason: str) -> None:
    """End the process that served this shell before: its number stays the same after ``exec``."""
    number = (read_text(os.path.join(room, "ready")) or "").strip()
    if number.isdigit() and is_alive(int(number)) and _serves(int(number), room):
        with suppress(OSError):
            replace_atomically(os.path.join(room, "replaced"), reason)
            os.kill(int(number), signal.SIGTERM)
        until = time.monotonic() + _HAND_OVER
        while is_alive(int(number)) and time.monotonic() < until:
            time.sleep(0.01)
    shutil.rmtree(room, ignore_errors=True)


def _serves(pid: int, room: str) -> bool:
    """Numbers of processes are used again; only Linux shows what a process was called with."""
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as file:
            return os.fsencode(room) in file.read().split(b"\0")
    except OSError:
        return not os.path.isdir("/proc/self")
