"""The kernel's news of approved files, for all hooks that are judged together; and who holds a file open for writing."""

from __future__ import annotations

import errno
import fcntl
import os
import threading
from collections.abc import Callable
from functools import partial

from hookline.core.file_watch import ATTRIB, DELETE_SELF, IGNORED, MOVE_SELF, OVERFLOW, Inotify, path_steps
from hookline.core.typed import TYPE_CHECKING

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the module around it makes an enum of every number first

#: Gets the name and the mask of an event.
_Listener = Callable[[str, int], None]

#: What a watch is on is the link itself.
_NO_FOLLOW = 0x02000000


class Watch:
    """``resident``: for a process that stays, every file is watched itself, so that no call has to look at them."""

    __slots__ = ("_followed", "_inotify", "_listeners", "_ways", "held", "lock", "resident")

    def __init__(self) -> None:
        self.lock = threading.RLock()
        #: Files that nobody can open for writing at this moment.
        self.held: frozenset[str] = frozenset()
        self.resident = False
        self._inotify: Inotify | None = None
        self._listeners: dict[int, dict[object, _Listener]] = {}
        #: Path -> who wants to know that somebody moves what leads to it; and the paths that are watched now.
        self._ways: dict[str, dict[object, Callable[[], None]]] = {}
        self._followed: set[str] = set()

    def add(self, path: str, mask: int, key: object, listener: _Listener) -> bool:
        """``listener`` gets the name and the mask of every event; one for each ``key``."""
        if self._inotify is None:
            self._inotify = Inotify()
        number = self._inotify.add(path, mask)
        if number < 0:
            return not os.path.lexists(path)  # what is gone is reported by the folder above it
        self._listeners.setdefault(number, {})[key] = listener
        return not self.resident or self._is_local(path)

    def follow(self, path: str, key: object, listener: Callable[[], None]) -> None:
        """``listener`` is called when a folder or a link on the way to ``path`` is moved or replaced.

        Folders that we may not read are left out: who could move them is not the user whose agent this is.
        """
        self._ways.setdefault(path, {})[key] = listener
        if path in self._followed:
            return
        self._followed.add(path)
        for folder, name in path_steps(path):
            step = os.path.join(folder, name)
            mask = MOVE_SELF | DELETE_SELF | (ATTRIB if os.path.islink(step) else 0)  # a link may have several names
            self.add(step, mask | _NO_FOLLOW, ("way", path), partial(self._on_way, path, mask))

    def look(self) -> None:
        """Pass on what has happened until now."""
        if self._inotify is None:
            return
        for number, mask, name in self._inotify.events():
            some = self._listeners.values() if mask & OVERFLOW else [self._listeners.get(number, {})]
            for listener in [one for listeners in some for one in listeners.values()]:
                listener(name, mask)
            if mask & IGNORED:
                self._listeners.pop(number, None)

    def _on_way(self, path: str, wanted: int, name: str, mask: int) -> None:
        if (mask & wanted and not name) or mask & OVERFLOW:
            self._followed.discard(path)  # another folder may be there now
            for listener in self._ways[path].values():
                listener()

    def _is_local(self, path: str) -> bool:
        try:
            return self._inotify is not None and self._inotify.is_local(os.stat(path).st_dev)
        except OSError:  # gone this moment, which is reported
            return True


def is_being_written(path: str) -> bool:
    """Whether a process has it open, or mapped, for writing; False where the system does not tell."""
    handle = lease(path)
    if handle is not None and handle >= 0:
        os.close(handle)
    return handle is None


def lease(path: str) -> int | None:
    """A handle that holds off writers until it is closed; None if there is one already, -1 where that cannot be known."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except OSError:
        return -1
    try:
        fcntl.fcntl(handle, fcntl.F_SETSIG, signal.SIGURG)  # a writer that comes now must not end us: the default would
        fcntl.fcntl(handle, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except (OSError, AttributeError) as error:
        os.close(handle)
        return None if getattr(error, "errno", 0) == errno.EAGAIN else -1
    return handle
