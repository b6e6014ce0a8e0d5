"""One writer at a time in a directory that several machines may share, also where they do not see each other's locks.

``flock`` separates the processes of one machine and ends with its holder, but not every file system shares it between
machines. So a holder file is created too, which only one process can do. A holder file that has not changed for longer
than any write takes was abandoned; no clock of the file system is needed to see that.
"""

from __future__ import annotations

import os
import time
from collections.abc import Generator
from contextlib import contextmanager, suppress

from hookline.core.files import is_alive, read_text, take_lock
from hookline.core.paths import Unusable, UnusableError, unusable
from hookline.memory.layout import make_private
from hookline.memory.queue.queue import this_host

_LOCK_FILE, HOLDER_FILE = ".lock", ".lock-holder"
#: Seconds after which an unchanged holder file of another machine is abandoned: writes take milliseconds.
_STALE_AFTER = 10.0
#: Seconds to wait for other writers.
_TIMEOUT = 60.0
_STEP = 0.01


@contextmanager
def lock_directory(folder: str) -> Generator[None]:
    """No other process that uses this lock changes the directory meanwhile. Raises OSError and StateError."""
    make_private(folder)
    path = os.path.join(folder, _LOCK_FILE)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UnusableError(unusable(path, error)) from error
    try:
        with suppress(OSError):  # a file system without locks: the holder file is enough
            take_lock(handle, wait=True)
        with _holder_file(os.path.join(folder, HOLDER_FILE)):
            yield
    finally:
        os.close(handle)


@contextmanager
def _holder_file(path: str) -> Generator[None]:
    token = f"{this_host()} {os.getpid()} {os.urandom(8).hex()}\n"
    _create(path, token)
    try:
        yield
    finally:
        if read_text(path, 4096) == token:  # not that of a process that took us for dead
            with suppress(OSError):
                os.unlink(path)


def _create(path: str, token: str) -> None:
    began = since = time.monotonic()
    seen: str | None = None
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            now, there = time.monotonic(), read_text(path, 4096)
            if there != seen:
                seen, since = there, now
            if there is not None and now - since > _stale_after(there):
                _remove_stale(path, there)
            elif now - began > _TIMEOUT:
                holder = " ".join((there or "").split()[:2]) or "unknown"
                why = f"another machine holds it ({holder})"
                raise UnusableError(Unusable(path=path, why=why, fix="try again later")) from None
            else:
                time.sleep(_STEP)
            continue
        _write_token(handle, path, token)
        return


def _write_token(handle: int, path: str, token: str) -> None:
    """On a full disk the file is removed: others would wait for one without a name."""
    try:
        os.write(handle, token.encode("utf-8", "surrogateescape"))
    except OSError as error:
        os.unlink(path)
        raise UnusableError(unusable(path, error)) from error
    finally:
        os.close(handle)


def _stale_after(there: str) -> float:
    """0 for a dead process of this machine."""
    node, _space, rest = there.partition(" ")
    pid = rest.partition(" ")[0]
    if node == this_host() and pid.isdigit() and not is_alive(int(pid)):
        return 0.0
    return _STALE_AFTER


def _remove_stale(path: str, there: str) -> None:
    """By a rename, which only one process can do. If it was replaced meanwhile, it is put back."""
    aside = f"{path}-{os.urandom(4).hex()}"
    with suppress(OSError):
        os.rename(path, aside)
        if read_text(aside, 4096) != there:
            with suppress(OSError):
                os.link(aside, path)
        os.unlink(aside)
