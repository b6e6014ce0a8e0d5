"""What a process may be started without: its three streams, all signs there are, and a directory to work in.

An agent's standard streams, whatever they are: closed, full, with nobody at the other end, or such as do not wait.
"""

from __future__ import annotations

import os
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from typing import Any, TextIO


def take_what_is_missing() -> None:
    _streams()
    _signs()
    _directory()


def _streams() -> None:
    """A stream that was closed is nobody: its number must not go to the next file, where a print would land in it."""
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


def _signs() -> None:
    """The terminal's encoding may lack a sign, and a file's name may be no text: it is written as an escape then."""
    if getattr(sys.stdout, "errors", "") == "strict" and isinstance(sys.stdout, TextIOWrapper):
        sys.stdout.reconfigure(errors="backslashreplace")


def _directory() -> None:
    """Where the working directory was deleted, the nearest one above it: its guards must not be off by that."""
    try:
        os.getcwd()
    except FileNotFoundError:
        place = os.path.abspath(os.environ.get("PWD") or "/") if os.path.isabs(os.environ.get("PWD", "")) else "/"
        while not os.path.isdir(place):
            place = os.path.dirname(place)
        os.chdir(place)
        print(f"hookline: the working directory is gone; working in {place}", file=sys.stderr)


def read_whole(stream: TextIO) -> bytes:
    """To its end."""
    source: Any = stream.buffer  # gives None where there is nothing yet, which its stub does not know
    said = source.read()
    try:
        waits = os.get_blocking(source.fileno())
    except (OSError, ValueError):
        waits = True
    if waits:
        return bytes(said or b"")
    from select import select  # noqa: PLC0415  hardly any caller has such a stream

    pieces: list[bytes] = []
    while said != b"":
        if said is None:
            select([source], [], [])
        else:
            pieces.append(said)
        said = source.read()
    return b"".join(pieces)


def text_of(data: bytes, name: str = "standard input") -> str:
    """Raises ``DataError`` where it is no UTF-8."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        from hookline.core.errors import DataError  # noqa: PLC0415  the warm way needs nothing of ours

        raise DataError(f"{name} is not UTF-8: {error.reason} at byte {error.start}") from None


def as_in_a_file(stream: TextIO) -> None:
    """What is the content of a file goes out as files are written, whatever the locale says of terminals."""
    if isinstance(stream, TextIOWrapper):
        stream.reconfigure(encoding="utf-8")


def told_whole(stream: TextIO, said: bytes) -> bool:
    """Whether all of it could be written: nobody may listen, or a disk be full. A stream that does not wait is waited for.

    Not through Python's buffer, which would complain at exit with a code of its own.
    """
    left = memoryview(said)
    if getattr(stream, "name", "") in {1, 2}:  # it was closed when we began, and nothing stands in its place
        return not said
    try:
        stream.flush()
        raw = getattr(stream.buffer, "raw", stream.buffer)
        while left:
            written = raw.write(left)
            if written is None:
                from select import select  # noqa: PLC0415  hardly any caller has such a stream

                select([], [raw], [])
            left = left[written or 0 :]
    except OSError:
        return False
    return True
