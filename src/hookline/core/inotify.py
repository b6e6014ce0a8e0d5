"""The kernel's news of files (Linux): a change is queued before the call that makes it returns.

``_ctypes`` without ``ctypes``: the package costs a cold run three milliseconds, the module below it half of one.
"""

from __future__ import annotations

import os
import select
import struct
import sys
from collections.abc import Callable, Iterator
from typing import Any

#: From <sys/inotify.h>.
MODIFY, ATTRIB, MOVED_FROM, MOVED_TO, CREATE, DELETE = 0x2, 0x4, 0x40, 0x80, 0x100, 0x200
DELETE_SELF, MOVE_SELF, OVERFLOW, IGNORED, IS_FOLDER = 0x400, 0x800, 0x4000, 0x8000, 0x40000000
#: What happens to the entries of a folder and to itself; what happens to one file.
OF_A_FOLDER = MOVED_FROM | MOVED_TO | CREATE | DELETE | DELETE_SELF | MOVE_SELF
OF_A_FILE = MODIFY | ATTRIB | DELETE_SELF | MOVE_SELF
_ADD_TO_MASK = 0x20000000
_HEAD = struct.Struct("iIII")

#: File systems whose every change passes this kernel.
_LOCAL = frozenset({"ext2", "ext3", "ext4", "xfs", "btrfs", "tmpfs", "ramfs", "f2fs", "zfs", "overlay", "bcachefs"})


class Inotify:
    """Not thread-safe. Where there is no inotify, ``usable`` is False and nothing can be added."""

    __slots__ = ("_add", "_handle", "_local", "_poll")

    def __init__(self) -> None:
        self._handle, self._add = _open()
        self._poll = select.poll()
        self._local: dict[int, bool] = {}
        if self._handle >= 0:
            self._poll.register(self._handle, select.POLLIN)

    @property
    def usable(self) -> bool:
        return self._handle >= 0

    def add(self, path: str, mask: int) -> int:
        """Watch it, in addition to what is watched already; the number of the watch, or -1."""
        return self._add(self._handle, os.fsencode(path), mask | _ADD_TO_MASK) if self._handle >= 0 else -1

    def events(self) -> Iterator[tuple[int, int, str]]:
        """Watch, mask and name of everything that has happened until now."""
        while self._handle >= 0 and self._poll.poll(0):
            data, at = os.read(self._handle, 1 << 16), 0
            while at < len(data):
                watch, mask, _, size = _HEAD.unpack_from(data, at)
                name = data[at + _HEAD.size : at + _HEAD.size + size].rstrip(b"\0")
                at += _HEAD.size + size
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
