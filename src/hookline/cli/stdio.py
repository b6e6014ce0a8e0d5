"""Standard streams and the working directory, whatever state the caller left them in: closed, full or non-blocking."""

from __future__ import annotations

import os
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from io import TextIOWrapper

from hookline.core.errors import DataError
from hookline.core.typed import Any, TextIO


def prepare_process() -> None:
    """Fill in what a caller may have left out: open streams, an encoding for every character, a directory."""
    _open_closed_streams()
    out = sys.stdout
    if isinstance(out, TextIOWrapper) and (out.errors == "strict" or out.encoding.lower() not in {"utf-8", "utf8"}):
        # The terminal's encoding may lack a character, and a file name may not be text.
        out.reconfigure(errors="backslashreplace")
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
    from select import select  # noqa: PLC0415  few streams do not block

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
    if was_closed(stream):
        return not data
    try:
        stream.flush()
        raw = getattr(stream.buffer, "raw", stream.buffer)
        while rest:
            written = raw.write(rest)
            if written is None:
                from select import select  # noqa: PLC0415  few streams do not block

                select([], [raw], [])
            rest = rest[written or 0 :]
    except OSError:
        return False
    return True


def was_closed(stream: TextIO) -> bool:
    """Whether the caller had closed it: what we opened in its place has a number for a name, and leads nowhere."""
    return getattr(stream, "name", "") in {1, 2}


@contextmanager
def stdout_to_stderr() -> Generator[None]:
    """Until this ends, prints go to stderr, so that what a function prints does not mix with the answer."""
    stream = sys.stdout
    try:
        kept, listener = os.dup(1), file_identity(1)
    except OSError:  # stdout is closed
        yield
        return
    try:
        _redirect_stdout(2)
        yield
    finally:
        if file_identity(kept) == listener:
            _redirect_stdout(kept)
            os.close(kept)
            sys.stdout = open(os.dup(1), "w", encoding="utf-8") if stream.closed else stream  # noqa: SIM115  until we end
        else:
            _disconnect_stdout()


def _redirect_stdout(descriptor: int) -> None:
    with suppress(OSError, ValueError, AttributeError):  # a function may have closed or replaced it
        sys.stdout.flush()
    with suppress(OSError):
        os.dup2(descriptor, 1)


def file_identity(descriptor: int) -> tuple[int, int] | None:
    """Which file a descriptor refers to: if a function closes everything, the number goes to the next open file."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _disconnect_stdout() -> None:
    """A function closed the way to the listener: writing the answer has to fail visibly."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    if nowhere != 1:
        os.dup2(nowhere, 1)
        os.close(nowhere)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  until we end
