"""On which line a pointer stands: worked out when first asked, because most files have no problems."""

from __future__ import annotations

import re
from bisect import bisect_right
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_NEWLINE = re.compile("\n")


class Lines:
    """``lines("$.hook[2].timeout")``; what has no line of its own has that of what holds it; 0 is unknown."""

    __slots__ = ("_index", "_scan")

    def __init__(self, scan: Callable[[], Mapping[str, int]]) -> None:
        self._scan = scan
        self._index: Mapping[str, int] | None = None

    def __call__(self, pointer: str) -> int:
        if self._index is None:
            self._index = self._scanned()
        while pointer not in self._index:
            cut = max(pointer.rfind("."), pointer.rfind("["))
            if cut <= 0:
                return self._index.get("$", 0)
            pointer = pointer[:cut]
        return self._index[pointer]

    def _scanned(self) -> Mapping[str, int]:
        try:
            return self._scan()
        except RecursionError:  # nested deeper than our stack: better no line than no answer
            return {}


class Offsets:
    """Offset in a text -> line, counted from 1."""

    __slots__ = ("_starts",)

    def __init__(self, text: str) -> None:
        self._starts = [found.end() for found in _NEWLINE.finditer(text)]

    def line(self, offset: int) -> int:
        return bisect_right(self._starts, offset) + 1
