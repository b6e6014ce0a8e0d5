"""One worker at a time: a lock that ends with its process, however that ends."""

from __future__ import annotations

import errno
import os
import time
from typing import TYPE_CHECKING

from hookline.core.files import is_locked, take_lock
from hookline.core.paths import private_dir

if TYPE_CHECKING:
    from types import TracebackType

#: Seconds that a worker tries: whoever only asks whether the lock is held has it for an instant.
_TIMEOUT = 0.1
_STEP = 0.005
#: A file system without locks: claims keep two workers apart there.
_WITHOUT = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP, errno.EINVAL})


class WorkerLock:
    """``with WorkerLock(path) as held:``; nothing is waited for but an instant. ``exclusive``: nobody else can hold it."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._handle = -1
        self.exclusive = False

    def __enter__(self) -> bool:
        private_dir(os.path.dirname(self._path))
        self._handle = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        until = time.monotonic() + _TIMEOUT
        while not (held := _taken(self._handle)) and time.monotonic() < until:
            time.sleep(_STEP)
        self.exclusive = held and _counts(self._handle)
        return held

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._handle)


def is_worker_running(path: str) -> bool:
    """Whether a worker is running. The file stays: removing it would let two workers hold two locks of one name."""
    return is_locked(path)


def _taken(handle: int) -> bool:
    try:
        return take_lock(handle)
    except OSError as error:
        if error.errno in _WITHOUT:
            return True
        raise


def _counts(handle: int) -> bool:
    """Whether a lock that we were told we have is one: taking it again changes nothing."""
    try:
        return take_lock(handle)
    except OSError:
        return False
