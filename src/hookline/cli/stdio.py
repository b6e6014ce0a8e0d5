"""Standard streams and the working directory, whatever state the caller left them in: closed, full or non-blocking."""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from select import select
from typing import TYPE_CHECKING

from hookline.core.errors import DataError

if TYPE_CHECKING:
    from typing import Any, TextIO


def prepare_process() -> None:
    """Fill in what a caller may have left out: open streams, an encoding for every character, a directory."""
    _open_closed_streams()
    if getattr(sys.stdout, "errors", "") == "strict" and isinstance(sys.stdout, TextIOWrapper):
        # The terminal's encoding may lack a character, and a file name may not be text.
        sys.stdout.reconfigure(errors="backslashreplace")
    _leave_deleted_directory()


def _open_closed_streams() -> None:
    """Connect closed streams to /dev/null: otherwise the next file we open gets the number, and prints go into it."""
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            try:
                os.fstat(number)
            except OSError:
                handle = os.open(os.devnull, os.O_RDWR)
                if handle != number:
                    os.dup2(handle, number)
                    os.close(handle)
            setattr(sys, name, open(number, mode, encoding="utf-8", closefd=False))  # noqa: SIM115  until we end


def _leave_deleted_directory() -> None:
    """If the working directory was deleted, use the nearest one above it, so that its guards still apply."""
    try:
        os.getcwd()
    except FileNotFoundError:
        place = os.path.abspath(os.environ.get("PWD") or "/") if os.path.isabs(os.environ.get("PWD", "")) else "/"
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        os.chdir(place)
        print(f"hookline: the working directory no longer exists; using {place}", file=sys.stderr)


def read_stream(stream: TextIO) -> bytes:
    """Read to the end, also from a stream that does not block."""
    source: Any = stream.buffer  # gives None where there is nothing yet, which its stub does not know
    chunk = source.read()
    try:
        blocking = os.get_blocking(source.fileno())
    except (OSError, ValueError):
        blocking = True
    if blocking:
        return bytes(chunk or b"")
    chunks: list[bytes] = []
    while chunk != b"":
        if chunk is None:
            select([source], [], [])
        else:
            chunks.append(chunk)
        chunk = source.read()
    return b"".join(chunks)


def decode_text(data: bytes, name: str = "standard input") -> str:
    """Raises ``DataError`` if it is not UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise DataError(f"{name} is not UTF-8: {error.reason} at byte {error.start}") from None


def use_utf8(stream: TextIO) -> None:
    """For output that is the content of a file: UTF-8, whatever the locale says about terminals."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8")


def write_fully(stream: TextIO, data: bytes) -> bool:
    """Write everything, waiting if the stream does not block; whether that worked: the reader may be gone, a disk full.

    Bypasses Python's buffer, which would complain at exit with an exit code of its own.
    """
    rest = memoryview(data)
    if getattr(stream, "name", "") in {1, 2}:  # it was closed when we started, and leads nowhere
        return not data
    try:
        stream.flush()
        raw = getattr(stream.buffer, "raw", stream.buffer)
        while rest:
            written = raw.write(rest)
            if written is None:
                select([], [raw], [])
            rest = rest[written or 0 :]
    except OSError:
        return False
    return True
