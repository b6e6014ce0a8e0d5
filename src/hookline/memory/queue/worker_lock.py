"""One worker at a time: a lock that ends with its process."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

from hookline.core.files import is_locked, take_lock
from hookline.core.paths import private_dir

if TYPE_CHECKING:
    from types import TracebackType

#: Seconds that a worker tries: a process that only checks the lock holds it for an instant.
_TIMEOUT = 0.1
_STEP = 0.005
#: Errors of a file system without locks: there, claims keep two workers apart.
_WITHOUT = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


class WorkerLock:
    """``with WorkerLock(path) as held:``, almost without waiting. ``exclusive``: the file system has locks."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1
        self.exclusive = False

    def __enter__(self) -> bool:
        private_dir(os.path.dirname(self._path))
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        until = time.monotonic() + _TIMEOUT
        while not (held := _acquire(self._handle)) and time.monotonic() < until:
            time.sleep(_STEP)
        self.exclusive = held and _is_real(self._handle)
        return held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)


def is_worker_running(path: str) -> bool:
    """The file is never removed: two workers could then hold two locks of one name."""
    return is_locked(path)


def _acquire(handle: int) -> bool:
    try:
        return take_lock(handle)
    except OSError as error:
        if error.errno in _WITHOUT:
            return True
        raise


def _is_real(handle: int) -> bool:
    """Whether we really hold the lock: acquiring it again changes nothing."""
    try:
        return take_lock(handle)
    except OSError:
        return False
