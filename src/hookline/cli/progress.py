"""Progress of long work, on standard error, if that is a terminal."""

from __future__ import annotations

import sys
import threading
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

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
        told = f"{self._what} {self._number}{self._of}" if self._number or self._of else self._what
        print(f"\r{told}{more}\x1b[K", end="", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._ended.set()
        with self._turn:
            if self._shown:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)
