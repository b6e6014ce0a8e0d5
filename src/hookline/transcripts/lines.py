"""Lines of a file of any size: never more of it in memory than the longest line that is still read."""

from __future__ import annotations

import json
import os
import re
import stat
from collections.abc import Iterator
from contextlib import suppress
from typing import Any

from hookline.core._dataclass import dataclass

#: A longer line is skipped: nobody reads ten megabytes of one tool's output.
LONGEST = 8 * 1024 * 1024
#: A file that is one document and no lines is read whole, if it is not longer than this.
_LONGEST_DOCUMENT = 32 * 1024 * 1024
_CHUNK = 256 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class _TextLine:
    text: bytes
    #: Where the next line begins.
    end: int
    #: It ends with a line feed, so it is complete.
    whole: bool = True


def _open_file(path: str) -> int | None:
    """A descriptor; None if it is not a regular file. A pipe must not block the reader."""
    try:
        handle = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NONBLOCK)
    except (OSError, ValueError):  # ValueError: a null character in the name
        return None
    if stat.S_ISREG(os.fstat(handle).st_mode):
        return handle
    os.close(handle)
    return None


def lines(path: str, start: int = 0, *, longest: int = LONGEST) -> Iterator[_TextLine]:
    """The lines from byte ``start`` on, without those that are too long. A read error ends them early."""
    handle = _open_file(path)
    if handle is None:
        return
    try:
        with suppress(OSError):
            yield from _lines(handle, max(0, start), longest)
    finally:
        os.close(handle)


def _lines(handle: int, place: int, longest: int) -> Iterator[_TextLine]:
    parts: list[bytes] = []
    held, dropping = 0, False
    while chunk := os.pread(handle, _CHUNK, place):
        begin = 0
        while (found := chunk.find(b"\n", begin)) >= 0:
            if not dropping and held + found - begin <= longest:
                parts.append(chunk[begin:found])
                yield _TextLine(text=b"".join(parts), end=place + found + 1)
            parts, held, dropping, begin = [], 0, False, found + 1
        place += len(chunk)
        held += len(chunk) - begin
        dropping = dropping or held > longest
        if dropping:
            parts = []
        elif begin < len(chunk):
            parts.append(chunk[begin:])
    if parts:
        yield _TextLine(text=b"".join(parts), end=place, whole=False)


def file_size(path: str) -> int:
    try:
        return os.stat(path).st_size
    except (OSError, ValueError):
        return 0


def line_start(path: str, place: int) -> int:
    """The first line that begins at ``place`` or after it."""
    if place <= 0:
        return 0
    return next((line.end for line in lines(path, place - 1) if line.whole), file_size(path))


#: Halves of a character, in the order in which an escape is tried: a pair, a half alone, any other escape.
_HALVES = re.compile(r"\\u[dD][89abAB]..\\u[dD][c-fC-F]..|(\\u[dD][89a-fA-F]..)|\\.", re.DOTALL)


def parse_record(text: bytes) -> dict[str, Any] | None:
    """The object in a line; None if there is none: a torn line, junk, or nested beyond reason."""
    # A byte order mark, or null bytes that a crash left, may come before the record.
    line = text.decode("utf-8", "replace").lstrip("\ufeff\0")
    if "\\ud" in line or "\\uD" in line:  # a lone surrogate cannot be encoded
        line = _HALVES.sub(lambda found: "\\ufffd" if found[1] else found[0], line)
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _document(path: str) -> dict[str, Any] | None:
    """The object that is the whole file."""
    handle = _open_file(path) if 0 < file_size(path) <= _LONGEST_DOCUMENT else None
    if handle is None:
        return None
    with os.fdopen(handle, "rb") as file:
        try:
            return parse_record(file.read(_LONGEST_DOCUMENT))
        except OSError:
            return None


def records(path: str, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every readable record, with the place after it. An incomplete last line counts if it can be read."""
    for number, line in enumerate(lines(path, start)):
        record = parse_record(line.text) if line.text.strip() else None
        if record is not None:
            yield line.end, record
        elif number == 0 and start == 0 and line.text.strip() in {b"{", b"\xef\xbb\xbf{"}:
            whole = _document(path)
            if whole is not None:
                yield file_size(path), whole
                return
