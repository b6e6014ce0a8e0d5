"""How things look: aligned, coloured only on a terminal, JSON where a program reads."""

from __future__ import annotations

import json
import os
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, TextIO

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Sequence

_COLOURS = {"red": "31", "green": "32", "yellow": "33", "blue": "34", "grey": "90", "bold": "1"}

#: The colour of an effect or a status, wherever it is shown.
_MEANING = {
    "allow": "green", "ask": "yellow", "deny": "red", "aborted": "red", "replied": "green", "failed": "red",
    "timed-out": "red", "skipped": "grey", "started": "blue", "trusted": "green", "changed": "red", "unknown": "yellow",
    "error": "red", "warning": "yellow",
}  # fmt: skip


def _coloured(stream: TextIO | None = None) -> bool:
    """Colours only on a terminal, and not where NO_COLOR asks for none."""
    target: TextIO | None = sys.stdout if stream is None else stream
    # A caller may have closed it: then there is no stream at all.
    return (
        target is not None and target.isatty() and not os.environ.get("NO_COLOR") and os.environ.get("TERM") != "dumb"
    )


def paint(text: str, colour: str, stream: TextIO | None = None) -> str:
    return f"\x1b[{_COLOURS[colour]}m{text}\x1b[0m" if colour and _coloured(stream) else text


def meaning(word: str, width: int = 0) -> str:
    """A status or an effect in its colour, padded before it is painted so that columns stay straight."""
    return paint(word.ljust(width), _MEANING.get(word, ""))


def print_json(value: Any) -> None:
    """One line, at once: a reader at the other end of a pipe may be waiting for it."""
    print(json_line(value), flush=True)


def json_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace").decode()


@contextmanager
def answer_apart() -> Generator[None]:
    """Until this ends, what is printed goes to stderr: what a function prints must not stand in the answer's way."""
    stream = sys.stdout
    try:
        kept, listener = os.dup(1), _at(1)
    except OSError:  # nobody listens
        yield
        return
    try:
        _turned(2)
        yield
    finally:
        if _at(kept) == listener:
            _turned(kept)
            os.close(kept)
            sys.stdout = open(os.dup(1), "w", encoding="utf-8") if stream.closed else stream  # noqa: SIM115  until we end
        else:
            _nobody_listens()


def _turned(descriptor: int) -> None:
    with suppress(OSError, ValueError, AttributeError):  # a function may have closed it, or taken it away
        sys.stdout.flush()
    with suppress(OSError):
        os.dup2(descriptor, 1)


def _at(descriptor: int) -> tuple[int, int] | None:
    """What a number stands for: a function that closes everything leaves it to whatever is opened next."""
    try:
        status = os.fstat(descriptor)
    except OSError:
        return None
    return status.st_dev, status.st_ino


def _nobody_listens() -> None:
    """Who did was hung up on: whoever has an answer now learns that it cannot be told."""
    nowhere = os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC)
    if nowhere != 1:
        os.dup2(nowhere, 1)
        os.close(nowhere)
    sys.stdout = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115  until we end


def tell(text: str, end: str = "\n") -> bool:
    """Print at once; whether it could be written. A reader that went away has heard what it wanted to hear.

    The exit code of a decision stands whatever happens to its text.
    """
    try:
        print(text, end=end, flush=True)
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return isinstance(error, BrokenPipeError)
    return True


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Columns as wide as their widest cell; cells may be painted, so the widths ignore colours.

    Text that a hook or an agent wrote must have gone through ``safe`` before.
    """
    body = [list(row) for row in rows]
    widths = [max(map(_width, column)) for column in zip(head, *body, strict=True)]
    lines = ["  ".join(paint(cell.ljust(width), "grey") for cell, width in zip(head, widths, strict=True)).rstrip()]
    for row in body:
        padded = (cell + " " * (width - _width(cell)) for cell, width in zip(row, widths, strict=True))
        lines.append("  ".join(padded).rstrip())
    return "\n".join(lines)


def counted(number: int, word: str) -> str:
    """``1 hook``, ``2 hooks``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def safe(text: str, limit: int = 0) -> str:
    """One line that cannot move the cursor: control characters are shown, not obeyed."""
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
