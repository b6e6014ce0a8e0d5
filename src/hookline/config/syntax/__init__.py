"""Text into a tree, and a way to ask on which line something stands. One small module per syntax."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from importlib import import_module
from types import MappingProxyType

from hookline.core._dataclass import dataclass
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.problem import Problem
from hookline.core.typed import Any, Protocol, cast
from hookline.dialects.base import Syntax

_NEWLINE = lazy_pattern("\n")


def _nowhere(_pointer: str) -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed text. ``tree`` is None when nothing could be read, and then a problem says why."""

    tree: Any
    line: Callable[[str], int] = _nowhere
    problems: tuple[Problem, ...] = ()


def syntax_error(path: str, syntax: str, finding: str, line: int) -> Document:
    fix = "correct the syntax; nothing of this file is read"
    return Document(tree=None, problems=(Problem(file=path, line=line, finding=f"not {syntax}: {finding}", fix=fix),))


class _Reader(Protocol):
    def __call__(self, path: str, text: str) -> Document:
        """Never raises on what a person wrote."""
        ...


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


#: Strings, because no syntax may cost the others their imports.
_READERS: Mapping[Syntax, str] = MappingProxyType(
    {
        "toml": "hookline.config.syntax.toml",
        "json": "hookline.config.syntax.json",
        "yaml": "hookline.config.syntax.yaml",
        "lec": "hookline.config.syntax.lec",
        "ini": "hookline.config.syntax.ini",
        "lash": "hookline.config.syntax.lash",
    }
)


def parse_text(path: str, text: str, syntax: Syntax) -> Document:
    reader = cast("_Reader", import_module(_READERS[syntax]).read)
    return reader(path, text)
