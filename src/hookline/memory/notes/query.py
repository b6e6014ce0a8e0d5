"""Text as the search sees it: words to look for, and a query that no text can break.

Languages written without spaces are searched character by character; everything else word by word, with endings and
accents left aside by the index itself.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Words of a query that count; nobody types more, and pasted pages need no more.
_MAX_WORDS = 32
_LONGEST = 64

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_EACH = re.compile(f"([{_UNSPACED}])")
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) +(?=[{_UNSPACED}])")
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_PHRASE = re.compile(r'"([^"]*)"')

#: Words that say nothing about what a session is about.
_COMMON = """
a about after all also an and any are as at be been before but by can could do does done for from had has have here how
i if in into is it its just like make more my need new next no not now of on one only or our out over please should so
some still test tests than that the their them then there these this to up us use used using was we were what when
where which while who will with work would you your main master develop dev trunk head detached feature feat fix bugfix
hotfix chore refactor release wip add added adds update updated merge branch pending session
"""
_STOP_WORDS = frozenset(_COMMON.split())


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """Each part is a word, or several that must follow one another."""

    parts: tuple[tuple[str, ...], ...]

    def __bool__(self) -> bool:
        return bool(self.parts)

    @property
    def words(self) -> list[str]:
        return [word for part in self.parts for word in part]

    def all(self) -> str:
        return " AND ".join(map(_quoted, self.parts))

    def any(self) -> str:
        return " OR ".join(map(_quoted, self.parts))


def parse_query(text: str) -> Query:
    """What a person typed. Words in double quotes must follow one another; no other sign means anything."""
    found: dict[tuple[str, ...], None] = {}
    rest = text
    if text.count('"') > 1:
        for phrase in _PHRASE.findall(text):
            if words := tuple(space_cjk(phrase).split()[:_MAX_WORDS]):
                found[tuple(one for word in words for one in split_words(word))] = None
        rest = _PHRASE.sub(" ", text)
    for part in _parts_in(rest):
        found[part] = None
    return Query(parts=tuple(part for part in found if part)[:_MAX_WORDS])


def keyword_query(texts: Iterable[str]) -> Query:
    """The words of several texts that say what they are about, in their order."""
    found: dict[str, None] = {}
    for text in texts:
        for word in split_words(text.lower()):
            if len(word) > 2 and word not in _STOP_WORDS and not word.isdigit():
                found[word] = None
    return Query(parts=tuple((word,) for word in found)[:_MAX_WORDS])


def split_words(text: str) -> list[str]:
    return [one for part in _parts_in(text) for one in part]


def _parts_in(text: str) -> Sequence[tuple[str, ...]]:
    """A run of characters without spaces is one part of many words."""
    return [tuple(space_cjk(word[:_LONGEST]).split()) for word in _WORD.findall(text)]


def space_cjk(text: str) -> str:
    """As it is kept in the index."""
    return _EACH.sub(r" \1 ", text) if not text.isascii() else text


def unspace_cjk(text: str) -> str:
    """As a person wrote it, nearly."""
    return _BETWEEN.sub("", text).strip() if not text.isascii() else text


def _quoted(part: Sequence[str]) -> str:
    return '"' + " ".join(part) + '"'
