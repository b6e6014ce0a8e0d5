"""JSON lines: how messages are put on a byte stream and found again, however the stream cuts them up."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

#: A longer line is no message; what is left of it is skipped without being kept.
_LINE_LIMIT = 1 << 20


_DECODER = json.JSONDecoder()


class BadLine(Exception):  # it is a finding about what somebody sent, not a fault of ours
    """A line that is too long, not JSON, or not an object; the text says which."""


def encode(message: Mapping[str, Any]) -> bytes:
    """One object on one line. Plain ASCII, so that no text, however broken, can break the line."""
    return json.dumps(message, separators=(",", ":")).encode() + b"\n"


def decode(line: bytes | str) -> dict[str, Any]:
    """The object on a line; raises ``BadLine``."""
    try:
        value = _DECODER.decode(line if isinstance(line, str) else line.decode(errors="replace"))
    except (ValueError, RecursionError):
        raise BadLine("a line that is not JSON") from None
    if type(value) is not dict:
        raise BadLine("a line that is not a JSON object")
    return value


def with_head(body: bytes, number: int) -> bytes:
    """An encoded object as the plugin's request ``number``: spliced, as decoding it again would cost more."""
    if body[:2] == b'{"':  # it begins as we write it, with its first field
        return b'{"type":"hook","id":%d,%b\n' % (number, body[1:].rstrip())
    rest = body.strip()[1:]
    return b'{"type":"hook","id":%d%b%b\n' % (number, b"," if rest.lstrip() != b"}" else b"", rest)


class LineBuffer:
    """Collects chunks and gives whole lines back; memory stays within ``limit`` and one chunk."""

    __slots__ = ("_held", "_limit", "_skipping")

    def __init__(self, limit: int = _LINE_LIMIT) -> None:
        self._held = b""
        self._limit = limit
        self._skipping = False

    def feed(self, chunk: bytes) -> list[bytes | None]:
        """The lines that are complete now, in order and without their end; None for one that was too long."""
        if not self._held and not self._skipping and chunk.count(b"\n") == 1 and chunk.endswith(b"\n"):
            return [chunk[:-1] if len(chunk) <= self._limit + 1 else None]  # the usual case: one message, whole
        *whole, last = (self._held + chunk).split(b"\n")
        lines: list[bytes | None] = [line if len(line) <= self._limit else None for line in whole]
        if self._skipping and lines:
            self._skipping, lines[0] = False, None
        if len(last) > self._limit or self._skipping:
            self._skipping, last = True, b""
        self._held = last
        return lines

    def unread(self, lines: Sequence[bytes]) -> None:
        """Whole lines that somebody else is to read: they come first at the next ``feed``, also of nothing."""
        self._held = b"".join(line + b"\n" for line in lines) + self._held
