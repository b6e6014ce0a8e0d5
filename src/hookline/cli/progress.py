"""A counter on standard error, where somebody watches."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from types import TracebackType

#: Seconds between two changes of what is shown.
STEP = 0.1


class Counter:
    """``with Counter("indexed") as count: count(12)``; silent unless standard error is a terminal."""

    def __init__(self, what: str, total: int = 0) -> None:
        self._what, self._of = what, f" of {total}" if total else ""
        self._watched = sys.stderr is not None and sys.stderr.isatty()
        self._next = 0.0
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __call__(self, number: int) -> None:
        if self._watched and time.monotonic() >= self._next:
            self._next, self._shown = time.monotonic() + STEP, True
            print(f"\r{self._what} {number}{self._of}\x1b[K", end="", file=sys.stderr, flush=True)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            print("\r\x1b[K", end="", file=sys.stderr, flush=True)
