"""Printing: aligned tables, colours on a terminal only, JSON for programs."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Iterable, Sequence
from types import TracebackType

from hookline.core.errors import StateError
from hookline.core.paths import unusable, why_unusable
from hookline.core.sanitize import one_line
from hookline.core.suggest import nearest
from hookline.core.typed import TYPE_CHECKING, Any, Self, TextIO

if TYPE_CHECKING:
    from hookline.state.record.store import Store

#: Seconds between two changes of what is shown.
_STEP = 0.1
#: Seconds after which one piece of work is shown with its name and duration.
_LONG = 1.0


class Counter:
    """``with Counter("indexed") as count: count(12)``; silent unless standard error is a terminal.

    ``count.at("name")`` names the current piece of work; if it takes long, the name and its seconds are shown.
    """

    def __init__(self, what: str, total: int = 0) -> None:
        self._what, self._of = what, f" of {total}" if total else ""
        self._watched = sys.stderr is not None and sys.stderr.isatty()
        self._number, self._doing, self._since = 0, "", time.monotonic()
        self._next = 0.0
        self._shown = False
        self._turn, self._ended = threading.Lock(), threading.Event()

    def __enter__(self) -> Self:
        if self._watched:
            threading.Thread(target=self._tick, name="hookline-progress", daemon=True).start()
        return self

    def __call__(self, number: int) -> None:
        if not self._watched:
            return
        with self._turn:
            self._number, self._since = number, time.monotonic()
            if time.monotonic() >= self._next:
                self._show("")

    def at(self, doing: str) -> None:
        with self._turn:
            self._doing, self._since = doing, time.monotonic()

    def _tick(self) -> None:
        while not self._ended.wait(_LONG):
            with self._turn:
                took = time.monotonic() - self._since
                if took >= _LONG and not self._ended.is_set():
                    self._show(f"{': ' if self._doing else ''}{self._doing} ({took:.0f} s)")

    def _show(self, more: str) -> None:
        self._next, self._shown = time.monotonic() + _STEP, True
        done = f"{self._what} {self._number}{self._of}" if self._number or self._of else self._what
        print(f"\r{done}{more}\x1b[K", end="", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        with self._turn:
            if self._shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)


def is_recorded(store: Store) -> bool:
    """Whether anything was ever recorded. Raises StateError if nothing can be."""
    try:
        os.stat(store.path)
    except FileNotFoundError:
        if why := why_unusable(os.path.dirname(store.path)):
            raise StateError(f"nothing is recorded: {why}") from None
        return False
    except OSError as error:
        raise StateError(f"the record cannot be read: {unusable(store.path, error)}") from None
    return True


def require_readable(store: Store) -> None:
    """Raise StateError with what to do, which SQLite's own message lacks."""
    if not store.note:
        return
    why = why_unusable(os.path.dirname(store.path))
    raise StateError(f"the record cannot be read: {why}" if why else store.note)


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


def paint_trust(state: str) -> str:
    """What trust says of a hook; ``unknown`` is the word of the JSON fields."""
    return paint("not approved" if state == "unknown" else state, _STATUS_COLOURS.get(state, ""))


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


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """``; did you mean 'log'?``, or "" if no known word is similar."""
    near = nearest(word, known)
    return f"; did you mean {near!r}?" if near else ""


def iso_time(seconds: float) -> str:
    """UTC, to the millisecond."""
    from datetime import UTC, datetime  # noqa: PLC0415  slow to import, and most commands print no time

    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def plural(number: int, word: str) -> str:
    """``1 hook``, ``2 hooks``."""
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


#: One line that cannot move the cursor: control characters become visible.
safe = one_line


def confirm(question: str) -> bool:
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in {"y", "yes"}


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
