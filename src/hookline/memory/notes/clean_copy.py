"""A copy of a transcript without its secrets, which can still be read as the transcript that it was."""

from __future__ import annotations

import json
from typing import IO, TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookline.state.record.redact import Redactor

#: Bytes that are looked through at once: what holds no secret is copied as it is.
_AT_ONCE = 1 << 20


def copy_clean(source: IO[bytes], target: IO[bytes], redactor: Redactor) -> None:
    """Line by line, in flat memory. A line without a secret stays the same to the byte. Raises OSError."""
    while held := source.readlines(_AT_ONCE):
        block = b"".join(held)
        if not redactor.suspects(block.decode("utf-8", "replace")):
            target.write(block)
            continue
        for line in held:
            target.write(_clean(line, redactor))


def copy_lines(lines: Iterable[bytes], target: IO[bytes], redactor: Redactor) -> None:
    """The same for lines that stand in no file. Raises OSError."""
    for line in lines:
        target.write(_clean(line, redactor))


def _clean(line: bytes, redactor: Redactor) -> bytes:
    text = line.decode("utf-8", "replace")
    if not redactor.suspects(text):
        return line
    try:
        record = json.loads(text)
    except (ValueError, RecursionError):
        return redactor.text(text).encode("utf-8", "replace")
    clean = redactor.value(record)
    if clean == record:
        return line
    return (json.dumps(clean, ensure_ascii=False) + "\n").encode("utf-8", "replace")
