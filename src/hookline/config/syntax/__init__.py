"""Text into a tree, and a way to ask on which line something stands. One small module per syntax."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.core.problem import Problem
    from hookline.dialects.base import Syntax


def nowhere(_pointer: str) -> int:
    return 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Document:
    """A parsed text. ``tree`` is None when nothing could be read, and then a problem says why."""

    tree: Any
    line: Callable[[str], int] = nowhere
    problems: tuple[Problem, ...] = ()


class Reader(Protocol):
    def __call__(self, path: str, text: str) -> Document:
        """Never raises on what a person wrote."""
        ...


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
    reader = cast("Reader", import_module(_READERS[syntax]).read)
    return reader(path, text)
