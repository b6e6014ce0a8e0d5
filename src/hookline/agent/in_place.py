"""Rewriting a conversation file so that it is, at every moment, either the old one or the new one, whole."""

from __future__ import annotations

import contextlib
import fcntl
import os
import tempfile
from typing import TYPE_CHECKING

from hookline.core.errors import DataError, StateError
from hookline.core.paths import private_dir

if TYPE_CHECKING:
    from collections.abc import Generator


@contextlib.contextmanager
def held(path: str) -> Generator[None]:
    """Nobody else rewrites the file meanwhile; a second run on it is told so instead of waiting."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    except BlockingIOError:
        raise DataError(f"another run is answering in {path}; wait until it is done") from None
    finally:
        os.close(handle)


def rewrite(path: str, text: str, *, before: bytes) -> None:
    """The file a link leads to gets the new text, and keeps its mode. Nothing is overwritten that we have not read:
    if the file is no longer ``before``, ``DataError``."""
    target = os.path.realpath(path)
    try:
        with open(target, "rb") as file:
            status = os.fstat(file.fileno())
            if file.read() != before:
                raise DataError(f"{path} was changed while the answer was made")
        _replace(target, text.encode("utf-8", "replace"), status)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error


def _replace(target: str, data: bytes, status: os.stat_result) -> None:
    folder = os.path.dirname(target) or "."
    handle, fresh = tempfile.mkstemp(prefix=f".{os.path.basename(target)}.", suffix=".new", dir=folder)
    try:
        with open(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(handle)
            with contextlib.suppress(OSError):  # only the owner of everything may give files away
                os.fchown(handle, status.st_uid, status.st_gid)
            os.fchmod(handle, status.st_mode & 0o7777)
        os.replace(fresh, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(fresh)
        raise
    with contextlib.suppress(OSError):  # some filesystems cannot do it for a directory
        directory = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)


def kept_aside(state_dir: str, text: str) -> str:
    """An answer that could not be written where it belongs; gives the file that holds it, "" if none can."""
    path = ""
    try:
        folder = private_dir(os.path.join(state_dir, "answers"))
        handle, path = tempfile.mkstemp(prefix="answer-", suffix=".lec", dir=folder)
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except (OSError, StateError):
        if path:  # half an answer would pass for a whole one
            with contextlib.suppress(OSError):
                os.unlink(path)
        return ""
    return path
