"""Regular expressions that are compiled when they are first used: there are many, and one command needs few."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property


class LazyPattern:
    """As ``re.compile(text)``, later."""

    def __init__(self, text: str, flags: int = 0) -> None:
        self._text, self._flags = text, flags

    @cached_property
    def _made(self) -> re.Pattern[str]:
        return re.compile(self._text, self._flags)

    def match(self, text: str) -> re.Match[str] | None:
        return self._made.match(text)

    def search(self, text: str) -> re.Match[str] | None:
        return self._made.search(text)

    def fullmatch(self, text: str) -> re.Match[str] | None:
        return self._made.fullmatch(text)

    def finditer(self, text: str) -> Iterator[re.Match[str]]:
        return self._made.finditer(text)

    def sub(self, by: str | Callable[[re.Match[str]], str], text: str) -> str:
        return self._made.sub(by, text)


def words(text: str) -> frozenset[str]:
    """A table of names, as one line of text."""
    return frozenset(text.split())
