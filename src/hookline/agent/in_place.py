"""Rewrite a conversation file atomically: at every moment it is either the old one or the new one."""

from __future__ import annotations

import contextlib
import os
import tempfile
from typing import TYPE_CHECKING

from hookline.core.errors import DataError, StateError
from hookline.core.files import open_locked, replace_atomically
from hookline.core.paths import private_dir

if TYPE_CHECKING:
    from collections.abc import Generator


@contextlib.contextmanager
def lock_conversation(path: str) -> Generator[None]:
    """Lock the file while a run answers in it; a second run fails instead of waiting."""
    try:
        handle = open_locked(os.path.realpath(path), os.O_RDONLY)
    except OSError as error:
        raise DataError(f"cannot read {path}: {error.strerror}") from error
    if handle is None:
        raise DataError(f"another run is answering in {path}; wait until it has finished")
    try:
        yield
    finally:
        os.close(handle)


def rewrite(path: str, text: str, *, before: bytes) -> None:
    """Links are followed and the mode is kept. Content that we have not read is never overwritten:
    if the file is no longer ``before``, this raises ``DataError``."""
    target = os.path.realpath(path)
    try:
        with open(target, "rb") as file:
            if file.read() != before:
                raise DataError(f"{path} was changed while the answer was being written")
        replace_atomically(target, text.encode("utf-8", "replace"), keep_mode=True)
    except OSError as error:
        raise DataError(f"cannot write {path}: {error.strerror}") from error


def save_aside(state_dir: str, text: str) -> str:
    """Save an answer that could not be written where it belongs; the path, or "" if that fails too."""
    path = ""
    try:
        folder = private_dir(os.path.join(state_dir, "answers"))
        handle, path = tempfile.mkstemp(prefix="answer-", suffix=".lec", dir=folder)
        with open(handle, "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    except (OSError, StateError):
        if path:  # a partial answer must not pass for a whole one
            with contextlib.suppress(OSError):
                os.unlink(path)
        return ""
    return path
