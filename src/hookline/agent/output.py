"""The output of an answer in progress: the block for the file, and the stream for the reader."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Generator
from typing import Literal

from hookline.agent.conversation.records import Attachment, CallRecord, Comment, ThoughtRecord, render_segment
from hookline.agent.conversation.values import StreamGuard
from hookline.core.errors import DataError, StateError
from hookline.core.files import open_locked, replace_atomically
from hookline.core.paths import private_dir


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


Format = Literal["full", "block", "raw", "clean", "none"]


class BlockWriter:
    """One block. ``write`` gets what the format shows; ``content`` is the block's whole text in any format.

    Every finished segment is followed by a blank line at once, so that what was printed can be read at any time.
    """

    def __init__(self, form: Format = "none", write: Callable[[str], None] | None = None) -> None:
        self._form = form
        self._write = write or (lambda _text: None)
        self._content: list[str] = []
        self._guard = StreamGuard()
        self._speaking = False
        self._gap = False
        self.opened = False

    @property
    def content(self) -> str:
        return "".join(self._content)

    def open(self, name: str) -> None:
        self.opened = True
        if self._form in {"full", "block"}:
            self._write(f":::{name}\n\n")

    def prose(self, piece: str) -> None:
        piece = piece.encode("utf-8", "replace").decode()
        if not piece:
            return
        self._speaking = True
        if self._form == "clean":
            self._write(f"\n\n{piece}" if self._gap else piece)
            self._gap = False
        self._add(self._guard.feed(piece))

    def end_prose(self) -> None:
        """End the prose of one reply."""
        if not self._speaking:
            return
        self._add(self._guard.flush() + "\n\n")
        self._speaking, self._gap = False, True

    def record(self, record: Attachment | CallRecord | ThoughtRecord | Comment) -> None:
        self.end_prose()
        self._add(render_segment(record).encode("utf-8", "replace").decode() + "\n\n")

    def remark(self, text: str) -> None:
        """A remark of our own among the prose."""
        self.end_prose()
        self._add(f"{text}\n\n")

    def close(self) -> None:
        self.end_prose()
        if self._form in {"full", "block"}:
            self._write(":::")

    def fail(self, message: str) -> None:
        """An error in place of the rest. The format ``none`` prints nothing."""
        notice = f"<error>\n{message}\n</error>"
        self.end_prose()
        if self._form in {"full", "block"}:
            head = "" if self.opened else "::: Error\n\n"
            self._write(f"{head}{notice}\n\n:::")
        elif self._form in {"raw", "clean"}:
            self._write(notice)

    def cut(self) -> None:
        """The run was interrupted: close the block where it is."""
        if self.opened:
            self.close()

    def _add(self, text: str) -> None:
        self._content.append(text)
        if self._form not in {"clean", "none"}:
            self._write(text)
