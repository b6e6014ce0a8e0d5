"""Printing: aligned tables, colours on a terminal only, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "grey": "90", "bold": "1"}

#: The colour of an effect or a status.
_STATUS_COLOURS = {
    "allow": "green", "ask": "yellow", "deny": "red", "aborted": "red", "replied": "green", "failed": "red",
    "timed-out": "red", "skipped": "grey", "started": "blue", "trusted": "green", "changed": "red", "unknown": "yellow",
    "error": "red", "warning": "yellow",
}  # fmt: skip


def _coloured(stream: TextIO | None = None) -> bool:
    """Only on a terminal, and not with NO_COLOR."""
    target: TextIO | None = sys.stdout if stream is None else stream
    # A caller may have closed it; then it is None.
    return (
        target is not None and target.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and _coloured(stream) else text


def paint_status(word: str, width: int = 0) -> str:
    """A status or an effect in its colour; padded first, so that columns stay aligned."""
    return paint(word.ljust(width), _STATUS_COLOURS.get(word, ""))


def print_json(value: Any) -> None:
    """One line, flushed: a reader at the other end of a pipe may be waiting for it."""
    print(json_line(value), flush=True)


def json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()


def print_now(text: str, end: str = "\n") -> bool:
    """Print and flush; whether it could be written. A reader that closed the pipe has read what it wanted.

    The exit code of a decision stands, whatever happens to its text.
    """
    try:
        print(text, end=end, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return isinstance(error, BrokenPipeError)
    return True


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their widest cell, not counting colour codes.

    Pass text that a hook or an agent wrote through ``safe`` first.
    """
    body = [list(row) for row in rows]
    widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
    lines = ["  ".join(paint(cell.ljust(width), "grey") for cell, width in zip(head, widths, strict=True)).rstrip()]
    for row in body:
        padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def plural(number: int, word: str) -> str:
    """``1 hook``, ``2 hooks``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def safe(text: str, limit: int = 0) -> str:
    """One line that cannot move the cursor: control characters become visible."""
    flat = "".join("⏎" if char == "\n" else char if char.isprintable() else "·" for char in text.rstrip())
    return flat if not limit or len(flat) <= limit else flat[: limit - 1] + "…"


def _width(text: str) -> int:
    length, painted = 0, False
    for char in text:
        if char == "\x1b":
            painted = True
        elif painted:
            painted = char != "m"
        else:
            length += 1
    return length
