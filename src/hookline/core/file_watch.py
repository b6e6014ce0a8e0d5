"""Whether files have changed: the kernel's news (inotify) for the price of one call, and signatures to be certain.

The kernel notes a change before the call that makes it returns, so whoever asks afterwards learns of it. Where that
cannot be relied on (another system, a network disk, too many files), ``cover`` says so, and the files themselves must
be looked at.

``_ctypes`` without ``ctypes``: the package costs a cold run three milliseconds, the module below it half of one.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping

from hookline.core.typed import Any

#: From <sys/inotify.h>.
MODIFY, ATTRIB, OPEN, _MOVED_FROM, MOVED_TO, CREATE, _DELETE = 0x2, 0x4, 0x20, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, OVERFLOW, IGNORED, IS_FOLDER = 0x400, 0x800, 0x4000, 0x8000, 0x40000000
#: What happens to the entries of a folder and to itself; what happens to one file.
OF_A_FOLDER = _MOVED_FROM | MOVED_TO | CREATE | _DELETE | DELETE_SELF | MOVE_SELF
OF_A_FILE = MODIFY | ATTRIB | DELETE_SELF | MOVE_SELF
_ADD_TO_MASK = 0x20000000

#: File systems whose every change passes this kernel.
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "ramfs", "f2fs", "zfs", "overlay", "bcachefs"})


class Inotify:
    """Not thread-safe. Where there is no inotify, ``usable`` is False and nothing can be added."""

    __slots__ = ("_add", "_handle", "_local", "_poll")

    def __init__(self) -> None:
        import select  # noqa: PLC0415  who looks once watches nothing

        self._handle, self._add = _open()
        self._poll = select.poll()
        self._local: dict[int, bool] = {}
        if self._handle >= 0:
            self._poll.register(self._handle, select.POLLIN)

    @property
    def usable(self) -> bool:
        return self._handle >= 0

    @property
    def handle(self) -> int:
        return self._handle

    def add(self, path: str, mask: int) -> int:
        """Watch it, in addition to what is watched already; the number of the watch, or -1."""
        return self._add(self._handle, os.fsencode(path), mask | _ADD_TO_MASK) if self._handle >= 0 else -1

    def events(self) -> Iterator[tuple[int, int, str]]:
        """Watch, mask and name of everything that has happened until now."""
        from struct import unpack_from  # noqa: PLC0415

        while self._handle >= 0 and self._poll.poll(0):
            data, at = os.read(self._handle, 1 << 16), 0
            while at < len(data):
                watch, mask, _, size = unpack_from("iIII", data, at)
                at += 16 + size
                name = data[at - size : at].rstrip(b"\0")
                yield watch, mask, os.fsdecode(name)

    def is_local(self, device: int) -> bool:
        """Whether every change on this device passes this kernel."""
        known = self._local.get(device)
        if known is None:
            known = self._local[device] = _file_system(device) in _LOCAL
        return known

    def close(self) -> None:
        handle, self._handle = self._handle, -1
        if handle >= 0:
            os.close(handle)

    def __del__(self) -> None:
        """Instances are few per user: one that nobody closed must not last as long as the process."""
        self.close()


def _file_system(device: int) -> str:
    """The file system of a device; "" when unknown."""
    wanted = f"{os.major(device)}:{os.minor(device)}"
    try:
        with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
            for line in file:
                words = line.split()
                if words[2] == wanted:
                    return words[words.index("-") + 1]
    except (OSError, ValueError, IndexError):
        pass
    return ""


def _open() -> tuple[int, Callable[[int, bytes, int], int]]:
    """A handle, and the function that adds watches to it; -1 where there is no inotify."""
    if sys.platform != "linux":
        return -1, _no_watch
    try:
        import _ctypes  # only who watches pays for it

        ctypes: Any = _ctypes
        libc = ctypes.dlopen(None, 0)
        start, add = (ctypes.dlsym(libc, name) for name in ("inotify_init1", "inotify_add_watch"))
        handle = int(ctypes.call_function(start, (os.O_NONBLOCK | os.O_CLOEXEC,)))
    except (ImportError, OSError, AttributeError, TypeError):
        return -1, _no_watch
    return handle, lambda handle, path, mask: int(ctypes.call_function(add, (handle, path, mask)))


def _no_watch(_handle: int, _path: bytes, _mask: int) -> int:
    return -1


# ── files and the way to them ────────────────────────────────────────────────────────────────────────

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

    @property
    def handle(self) -> int:
        """Readable when something has happened; -1 where there is no inotify."""
        return self._inotify.handle

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
        for folder, name in path_steps(path):
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


def path_steps(path: str) -> Iterator[tuple[str, str]]:
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
