"""Whether files have changed: the kernel's news (inotify) for the price of one call, and signatures to be certain.

The kernel notes a change before the call that makes it returns, so whoever asks afterwards learns of it. Where that
cannot be relied on (another system, a network disk, too many files), ``cover`` says so, and the files themselves must
be looked at.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping

from hookline.core.inotify import ATTRIB, IGNORED, MODIFY, OF_A_FILE, OF_A_FOLDER, OVERFLOW, Inotify

#: Watches in all, and symbolic links on the way to one file.
_MOST, _LINKS = 4096, 40
#: In a folder whose every entry matters.
_EVERY = "*/"


class FileWatcher:
    """A number that grows with every change. Not thread-safe."""

    def __init__(self) -> None:
        #: ``number`` grows whenever anything happened to what is covered; ``shape`` whenever something appeared or
        #: disappeared, so that it must be covered again.
        self.number = self.shape = 0
        self._inotify = Inotify()
        #: Watch -> names in that folder that matter; none at all for a file, of which everything matters.
        self._names: dict[int, set[str]] = {}

    def look(self) -> int:
        """The number, with everything that has happened until now."""
        for watch, mask, name in self._inotify.events():
            names = self._names.get(watch, set())
            if not names or not name or mask & OVERFLOW or _EVERY in names or name in names:
                self.number += 1
                self.shape += not mask & (MODIFY | ATTRIB)
            if mask & IGNORED:  # the watch is gone with what it watched
                self._names.pop(watch, None)
        return self.number

    def cover(self, paths: Iterable[str]) -> bool:
        """From now on changes of these count, whether they are there or not; False when some cannot be covered."""
        if not self._inotify.usable or len(self._names) > _MOST:
            return False
        try:
            return all(self._cover(path) for path in paths)
        except OSError:
            return False

    def close(self) -> None:
        self._inotify.close()

    def _cover(self, path: str) -> bool:
        for folder, name in _path_steps(path):
            if not self._watch(folder, OF_A_FOLDER, name):
                return False
        try:
            status = os.stat(path)
        except (OSError, ValueError):
            return True  # not there: the last folder on the way to it will report it
        if stat.S_ISDIR(status.st_mode):
            return self._watch(path, OF_A_FOLDER | ATTRIB, _EVERY)
        return self._watch(path, OF_A_FILE, "")

    def _watch(self, path: str, mask: int, name: str) -> bool:
        try:
            if not self._inotify.is_local(os.stat(path).st_dev):
                return False
        except FileNotFoundError:  # gone this moment: its folder reports that
            return True
        number = self._inotify.add(path, mask)
        if number < 0:
            return False
        names = self._names.setdefault(number, set())
        if name:
            names.add(name)
        return True


class WatchedFiles:
    """A few files: as long as ``moment`` returns the same, nobody has touched them."""

    def __init__(self, paths: tuple[str, ...], turn: Callable[[], int]) -> None:
        self._paths = paths
        self._turn = turn
        self._watcher = FileWatcher()
        self._shape = -1
        self._covered = False
        self._latest = (-1, 0)

    def moment(self) -> int:
        """Looked up once per turn. Where they cannot be covered, every turn is another moment."""
        turn, known = self._latest
        if turn != self._turn():
            turn = self._turn()
            known = self._look()
            self._latest = (turn, known)
        return known

    def _look(self) -> int:
        number = self._watcher.look()
        if self._shape != self._watcher.shape:
            self._shape = self._watcher.shape
            self._covered = self._watcher.cover(self._paths)
        return number if self._covered else -1 - self._turn()

    def close(self) -> None:
        self._watcher.close()


def _path_steps(path: str) -> Iterator[tuple[str, str]]:
    """Every folder on the way to a file, with the name that leads on; through symbolic links, as far as there is one."""
    here, left, links = "/", [part for part in path.split("/") if part not in {"", "."}][::-1], 0
    while left:
        name = left.pop()
        if name == "..":
            here = os.path.dirname(here)
            continue
        yield here, name
        there = os.path.join(here, name)
        try:
            target = os.readlink(there)
        except FileNotFoundError:
            return
        except OSError:  # no link
            here = there
            continue
        links += 1
        if links > _LINKS:
            return
        here = "/" if target.startswith("/") else here
        left += [part for part in target.split("/") if part not in {"", "."}][::-1]


# ── signatures ───────────────────────────────────────────────────────────────────────────────────────

#: Change time, size, inode and modification time: as long as they stand, the content stands. None: nothing there.
Signature = tuple[int, int, int, int] | None

#: A file that was written this shortly before it was read may be written again without a trace in its signature.
UNSETTLED = 20_000_000

#: Never equal to a real signature.
_UNSURE: Signature = (-1, -1, -1, -1)


def signature(path: str) -> Signature:
    try:
        status = os.stat(path)
    except (OSError, ValueError):
        return None
    return status.st_ctime_ns, status.st_size, status.st_ino, status.st_mtime_ns


def signatures(paths: Iterable[str], began_ns: int) -> dict[str, Signature]:
    """As they are now; those that changed since (or just before) reading began will look changed."""
    found: dict[str, Signature] = {}
    for path in paths:
        now = signature(path)
        found[path] = _UNSURE if now is not None and now[0] > began_ns - UNSETTLED else now
    return found


def are_unchanged(known: Mapping[str, Signature]) -> bool:
    return all(signature(path) == then for path, then in known.items())
