"""One writer at a time in a directory that several machines may share, also where they do not see each other's locks.

A lock of the system keeps processes of one machine apart, and ends with its holder. Between machines it counts on some
file systems only; so, with it, a file is made that only one can make. One that its maker left behind is known without
any clock of the file system: it has not changed for as long as nobody needs.
"""

from __future__ import annotations

import os
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from hookline.core.files import read_text, take_lock
from hookline.core.paths import Unusable, UnusableError, unusable
from hookline.memory.layout import make_private
from hookline.memory.queue.queue import this_host

if TYPE_CHECKING:
    from collections.abc import Generator

_LOCK_FILE, HOLDER_FILE = ".lock", ".lock-holder"
#: Seconds after which a file of another machine that stays the same was left behind: what is done under it takes
#: milliseconds.
_STALE_AFTER = 10.0
#: Seconds that somebody waits for others who come and go.
_TIMEOUT = 60.0
_STEP = 0.01


@contextmanager
def lock_directory(folder: str) -> Generator[None]:
    """Nobody else who asks for it changes the directory meanwhile. Raises OSError and StateError."""
    make_private(folder)
    path = os.path.join(folder, _LOCK_FILE)
    try:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    except OSError as error:
        raise UnusableError(unusable(path, error)) from error
    try:
        with suppress(OSError):  # a file system without locks: the file keeps everybody apart
            take_lock(handle, wait=True)
        with _only_one(os.path.join(folder, HOLDER_FILE)):
            yield
    finally:
        os.close(handle)


@contextmanager
def _only_one(path: str) -> Generator[None]:
    token = f"{this_host()} {os.getpid()} {os.urandom(8).hex()}\n"
    _make(path, token)
    try:
        yield
    finally:
        if read_text(path, 4096) == token:  # not one of somebody who thought that we were gone
            with suppress(OSError):
                os.unlink(path)


def _make(path: str, token: str) -> None:
    began = since = time.monotonic()
    seen: str | None = None
    while True:
        try:
            handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        except FileExistsError:
            now, there = time.monotonic(), read_text(path, 4096)
            if there != seen:
                seen, since = there, now
            if there is not None and now - since > _bearable(there):
                _put_aside(path, there)
            elif now - began > _TIMEOUT:
                why = f"another machine holds it ({_whose(there)})"
                raise UnusableError(Unusable(path=path, why=why, fix="try again later")) from None
            else:
                time.sleep(_STEP)
            continue
        _sign(handle, path, token)
        return


def _whose(there: str | None) -> str:
    return " ".join((there or "").split()[:2]) or "it does not say which"


def _sign(handle: int, path: str, token: str) -> None:
    """One that does not say whose it is would be waited for: on a full disk there is none at all."""
    try:
        os.write(handle, token.encode("utf-8", "surrogateescape"))
    except OSError as error:
        os.unlink(path)
        raise UnusableError(unusable(path, error)) from error
    finally:
        os.close(handle)


def _bearable(there: str) -> float:
    """Of this machine: whoever made it is gone, or has no lock to show, since we hold it where there is one."""
    node, _space, rest = there.partition(" ")
    pid = rest.partition(" ")[0]
    if node == this_host() and pid.isdigit() and not _alive(int(pid)):
        return 0.0
    return _STALE_AFTER


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def _put_aside(path: str, there: str) -> None:
    """By a rename, which only one can do; if it took another's, that one gets it back."""
    aside = f"{path}-{os.urandom(4).hex()}"
    with suppress(OSError):
        os.rename(path, aside)
        if read_text(aside, 4096) != there:
            with suppress(OSError):
                os.link(aside, path)
        os.unlink(aside)
