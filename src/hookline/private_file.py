"""Changing a file of our own: one process at a time, never half, and for our eyes only."""

from __future__ import annotations

import fcntl
import json
import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hookline.errors import StateError
from hookline.paths import private_dir, unusable

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping


@contextmanager
def locked(path: str) -> Generator[None]:
    """Nobody else changes ``path`` meanwhile. Raises StateError."""
    private_dir(os.path.dirname(path) or ".")
    try:
        handle = os.open(f"{path}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise StateError(unusable(f"{path}.lock", error)) from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)


def is_locked(path: str, *, ours: bool = False) -> bool:
    """Whether somebody holds a lock on the file; with ``ours``, on a file of this user. Looking changes nothing, and
    needs no place that can be written."""
    try:
        # Not blocking, in case somebody put a FIFO there.
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError:
        return False
    try:
        if ours and os.fstat(handle).st_uid != os.geteuid():
            return False
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    except OSError:
        return False
    else:
        return False
    finally:
        os.close(handle)


def write_private(path: str, tree: Mapping[str, Any]) -> None:
    """The whole file or nothing of it, for our eyes only. Raises StateError."""
    fresh = f"{path}.{os.getpid()}.new"
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w", encoding="utf-8") as file:
            json.dump(tree, file, indent=1)
            file.flush()
            os.fsync(handle)
        os.replace(fresh, path)
    except OSError as error:
        raise StateError(unusable(path, error)) from error
