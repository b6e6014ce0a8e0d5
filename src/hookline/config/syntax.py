"""Text into a tree, and a way to ask on which line something stands. One small module per syntax."""

from __future__ import annotations

from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol, cast

from hookline.dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.dialects.base import Syntax
    from hookline.problem import Problem


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
READERS: Mapping[Syntax, str] = MappingProxyType(
    {
        "toml": "hookline.config.read_toml",
        "json": "hookline.config.read_json",
        "yaml": "hookline.config.read_yaml",
        "lec": "hookline.config.read_lec",
        "ini": "hookline.config.read_ini",
        "lash": "hookline.config.read_lash",
    }
)


def parse_text(path: str, text: str, syntax: Syntax) -> Document:
    reader = cast("Reader", import_module(READERS[syntax]).read)
    return reader(path, text)
