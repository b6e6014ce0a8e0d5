"""Files of our own, and files of other programs that we change: locks, atomic replacement, backups.

A file is replaced as a whole or not at all, whatever ends the process and however full the disk is.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import time
from _thread import _local as local  # pyright: ignore[reportPrivateUsage]  threading imports three modules more
from collections.abc import Generator, Mapping
from contextlib import contextmanager

from hookline.core.fast_json import loads
from hookline.core.paths import UnusableError, private_dir, unusable
from hookline.core.typed import Any, BinaryIO

_PRIVATE = os.O_CLOEXEC | os.O_NOFOLLOW

# ── locks ────────────────────────────────────────────────────────────────────────────────────────────


def take_lock(handle: int, *, wait: bool = False, shared: bool = False) -> bool:
    """Lock an open file until it is closed; False when another process has it. Raises OSError without locks."""
    kind = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(handle, kind if wait else kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def open_locked(path: str, flags: int = os.O_RDWR | os.O_CREAT, *, wait: bool = False) -> int | None:
    """A descriptor that holds the lock on ``path``; None when another process has it. Raises OSError."""
    handle = os.open(path, flags | _PRIVATE, 0o600)
    try:
        if take_lock(handle, wait=wait):
            return handle
    except BaseException:
        os.close(handle)
        raise
    os.close(handle)
    return None


@contextmanager
def lock(path: str) -> Generator[None]:
    """No other process changes ``path`` meanwhile. The lock is a file beside it. Raises StateError."""
    private_dir(os.path.dirname(path) or ".")
    try:
        handle = open_locked(f"{path}.lock", wait=True)
    except OSError as error:
        raise UnusableError(unusable(f"{path}.lock", error)) from error
    assert handle is not None, "it was waited for"
    try:
        yield
    finally:
        os.close(handle)


def is_locked(path: str, *, ours: bool = False) -> bool:
    """Whether a process holds a lock on the file; with ``ours``, on a file of this user. Changes nothing, and works in
    a directory that cannot be written."""
    try:
        # Not blocking, in case somebody put a FIFO there.
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | _PRIVATE)
    except OSError:
        return False
    try:
        if ours and os.fstat(handle).st_uid != os.geteuid():
            return False
        return not take_lock(handle, shared=True)
    except OSError:
        return False
    finally:
        os.close(handle)


def is_alive(pid: int) -> bool:
    """Whether there is such a process, of any user."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


# ── atomic replacement ───────────────────────────────────────────────────────────────────────────────

#: Begins the name of a file that is being written; ``sweep`` removes those that a crash left behind.
UNFINISHED = ".new-"
#: Seconds after which no process is still writing such a file.
_ABANDONED = 3600.0


@contextmanager
def atomic_writer(
    path: str,
    *,
    mode: int = 0o600,
    keep_mode: bool = False,
    durable: bool = True,
    exclusive: bool = False,
    mtime: float | None = None,
) -> Generator[BinaryIO]:
    """A file that becomes ``path`` when the block ends, and vanishes when it raises.

    ``keep_mode`` takes over mode and owner of the file that is there; ``mode`` is for a new one. ``durable`` survives
    a power cut too, and waits for the disk. ``exclusive`` raises FileExistsError where ``path`` exists.
    """
    folder = os.path.dirname(path)
    fresh = os.path.join(folder, f"{UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _PRIVATE, mode), "wb") as file:
            yield file
            file.flush()
            if keep_mode:
                _copy_mode(path, file.fileno())
            if durable:
                os.fsync(file.fileno())
        if mtime is not None:
            os.utime(fresh, (mtime, mtime))
        if exclusive:
            _link(fresh, path)
        else:
            os.replace(fresh, path)
    except BaseException as error:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        if isinstance(error, OSError) and error.filename in {None, fresh}:
            error.filename = path  # a full disk does not name the file
        raise
    if durable:
        _sync_folder(folder)


def replace_atomically(
    path: str,
    text: str | bytes,
    *,
    mode: int = 0o600,
    keep_mode: bool = False,
    durable: bool = True,
    exclusive: bool = False,
    mtime: float | None = None,
) -> None:
    """The same for a text that is there as a whole. Raises OSError, and then nothing has changed."""
    with atomic_writer(path, mode=mode, keep_mode=keep_mode, durable=durable, exclusive=exclusive, mtime=mtime) as file:
        file.write(text if isinstance(text, bytes) else _encode(text))


def write_json(path: str, tree: Mapping[str, Any]) -> None:
    """A private JSON file, replaced as a whole. Raises StateError."""
    import json  # noqa: PLC0415  no event writes one

    try:
        replace_atomically(path, json.dumps(tree, indent=1))
    except OSError as error:
        raise UnusableError(unusable(path, error)) from error


def backup(state: str, path: str, text: str) -> str:
    """Keep a copy of a file that is about to be changed, in the state directory; its path. Raises StateError."""
    folder = private_dir(os.path.join(private_dir(state), "backups"))
    copy = f"{time.strftime('%Y%m%d-%H%M%S')}-{os.urandom(3).hex()}-{os.path.basename(path)}"
    copy = os.path.join(folder, copy)
    try:
        replace_atomically(copy, text)
    except OSError as error:
        raise UnusableError(unusable(folder, error)) from error
    return copy


def _copy_mode(path: str, handle: int) -> None:
    with contextlib.suppress(FileNotFoundError):
        status = os.stat(path)
        with contextlib.suppress(OSError):  # only root may give files away
            os.fchown(handle, status.st_uid, status.st_gid)
        os.fchmod(handle, status.st_mode & 0o7777)


def _encode(text: str) -> bytes:
    """File names may hold bytes that are not UTF-8, and stay as they are; half a character from JSON cannot."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "replace")


def _link(fresh: str, path: str) -> None:
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


def _sync_folder(folder: str) -> None:
    """So that the name too survives a power cut; some file systems cannot do it."""
    with contextlib.suppress(OSError):
        handle = os.open(folder or ".", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


# ── reading and cleaning up ──────────────────────────────────────────────────────────────────────────


def read_text(path: str, limit: int = 64 << 20, *, errors: str = "replace") -> str | None:
    """The text of a file; None where there is none that can be read, or it is larger than anything of ours."""
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            data = file.read(limit + 1) or b""
    except OSError:
        return None
    return None if len(data) > limit else data.decode("utf-8", errors)


def read_json(path: str, limit: int = 64 << 20) -> Any:
    """What a JSON file of ours holds; None where it cannot be read as one."""
    try:
        return loads(read_text(path, limit, errors="strict") or "null")
    except (ValueError, RecursionError):
        return None


def list_names(folder: str) -> list[str]:
    """The names in a directory, sorted; none if it cannot be read."""
    try:
        return sorted(os.listdir(folder))
    except OSError:
        return []


def modification_time(path: str) -> float:
    """The modification time; 0 if there is no such file."""
    try:
        return os.stat(path).st_mtime
    except (OSError, ValueError):
        return 0.0


def open_without_waiting(path: str, flags: int) -> int:
    """An opener: a pipe in a file's place, which nobody writes to, is an empty file."""
    return os.open(path, flags | os.O_NONBLOCK | os.O_CLOEXEC)


def sweep(folder: str, *, older: float = _ABANDONED) -> int:
    """Remove unfinished files that were not touched for ``older`` seconds; how many. A clock may have jumped back."""
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


# ── which files hooks were loaded from ───────────────────────────────────────────────────────────────
# Readers note each file, so that a cache knows what to watch. Asking the interpreter instead (an audit hook) was tried: it
# cannot be removed again, and costs every decision of the daemon a twentieth.

#: The files that this thread has read, while they are collected.
_HERE = local()


def note(path: str) -> None:
    """Called before the file is read: one that does not exist yet matters too."""
    paths: set[str] | None = getattr(_HERE, "paths", None)
    if paths is not None and os.path.isabs(path):
        paths.add(path)


@contextmanager
def listening() -> Generator[set[str]]:
    """Collects the files that this thread notes meanwhile."""
    before: set[str] | None = getattr(_HERE, "paths", None)
    paths: set[str] = set()
    _HERE.paths = paths
    try:
        yield paths
    finally:
        _HERE.paths = before
        if before is not None:
            before |= paths
