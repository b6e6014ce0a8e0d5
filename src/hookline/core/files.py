"""Changing a file of our own: one process at a time, never half, and for our eyes only.

Files that are there whole or not at all, whatever ends us and however full the disk is.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from hookline.core.errors import StateError
from hookline.core.paths import private_dir, unusable

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


#: Begins the name of a file that is being written; those that stay behind are swept away later.
UNFINISHED = ".new-"
#: Seconds after which such a file is nobody's any more.
_ABANDONED = 3600.0


def write_whole(
    path: str, text: str, *, exclusive: bool = False, seconds: float | None = None, durable: bool = True
) -> None:
    """Replace ``path``; or, ``exclusive``, raise FileExistsError where it exists. ``seconds`` is the file's time.

    ``durable`` outlives a power cut too, and costs a wait for the disk. Raises OSError, and then nothing has changed.
    """
    folder = os.path.dirname(path)
    fresh = os.path.join(folder, f"{UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        _write(fresh, _bytes(text), durable=durable)
        if seconds is not None:
            os.utime(fresh, (seconds, seconds))
        if exclusive:
            _take_name(fresh, path)
        else:
            os.replace(fresh, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        if isinstance(error, OSError) and error.filename in {None, fresh}:
            error.filename = path  # a full disk does not say of what
        raise
    if durable:
        _settle(folder)


def read_text(path: str, limit: int = 64 << 20, *, errors: str = "replace") -> str | None:
    """The text of a file; None where there is none that can be read, or it is larger than anything of ours."""
    try:
        with open(path, "rb", opener=without_waiting) as file:
            data = file.read(limit + 1) or b""
    except OSError:
        return None
    return None if len(data) > limit else data.decode("utf-8", errors)


def without_waiting(path: str, flags: int) -> int:
    """An opener: a pipe in a file's place, which nobody writes to, is an empty file."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def sweep(folder: str, *, older: float = _ABANDONED) -> int:
    """Remove what was never finished and has not been touched for that long; how many. A clock may have jumped back."""
    removed = 0
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            path = os.path.join(folder, name)
            with contextlib.suppress(OSError):
                if name.startswith(UNFINISHED) and abs(time.time() - os.stat(path).st_mtime) > older:
                    os.unlink(path)
                    removed += 1
    return removed


def prune(folder: str, *, keep: int, days: float, now: float) -> int:
    """Remove the files of a directory beyond the newest ``keep`` and those older than ``days``; how many.

    Files of the future are left alone: they may be new, and the clock old.
    """
    dated: list[tuple[float, str]] = []
    with contextlib.suppress(OSError):
        for name in os.listdir(folder):
            with contextlib.suppress(OSError):
                dated.append((os.stat(os.path.join(folder, name), follow_symlinks=False).st_mtime, name))
    removed = 0
    for place, (changed, name) in enumerate(sorted(dated, reverse=True)):
        path = os.path.join(folder, name)
        if name.startswith(".") or not os.path.isfile(path):
            continue
        if place >= keep or now - changed > days * 86400:
            with contextlib.suppress(OSError):
                os.unlink(path)
                removed += 1
    return removed


def _bytes(text: str) -> bytes:
    """Names of files may hold bytes that are no UTF-8, and stay as they are; half a character from JSON cannot."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _take_name(fresh: str, path: str) -> None:
    try:
        os.link(fresh, path)
    except FileExistsError:
        raise
    except OSError:  # a file system without links: the next best thing
        if os.path.lexists(path):
            raise FileExistsError(path) from None
        os.replace(fresh, path)
    else:
        os.unlink(fresh)


def _write(path: str, data: bytes, *, durable: bool) -> None:
    handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        left = memoryview(data)
        while left:
            left = left[os.write(handle, left) :]
        if durable:
            os.fsync(handle)
    finally:
        os.close(handle)


def _settle(folder: str) -> None:
    """The name too survives a power cut; some file systems cannot be asked for it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
