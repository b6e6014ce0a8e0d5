"""Turn text into words and search queries; no text can break a query.

Languages without spaces are searched by character, everything else by word. The index ignores endings and accents.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

#: Words of a query that count, even if a page was pasted.
_MAX_WORDS = 32
_MAX_WORD = 64

_UNSPACED = "\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_EACH = re.compile(f"([{_UNSPACED}])")
_BETWEEN = re.compile(f"(?<=[{_UNSPACED}]) +(?=[{_UNSPACED}])")
_WORD = re.compile(f"[{_UNSPACED}]+|[^\\W_{_UNSPACED}]+")
_PHRASE = re.compile(r'"([^"]*)"')

#: Words that do not describe a topic.
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
    """Each part is a word, or a phrase."""

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
    """A person's input. Double quotes mark phrases; no other character has a meaning."""
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
    """The keywords of several texts, in order."""
    found: dict[str, None] = {}
    for text in texts:
        for word in split_words(text.lower()):
            if len(word) > 2 and word not in _STOP_WORDS and not word.isdigit():
                found[word] = None
    return Query(parts=tuple((word,) for word in found)[:_MAX_WORDS])


def split_words(text: str) -> list[str]:
    return [one for part in _parts_in(text) for one in part]


def _parts_in(text: str) -> Sequence[tuple[str, ...]]:
    """A run of characters of a language without spaces is one phrase."""
    return [tuple(space_cjk(word[:_MAX_WORD]).split()) for word in _WORD.findall(text)]


def space_cjk(text: str) -> str:
    """As stored in the index."""
    return _EACH.sub(r" \1 ", text) if not text.isascii() else text


def unspace_cjk(text: str) -> str:
    """Nearly as it was written."""
    return _BETWEEN.sub("", text).strip() if not text.isascii() else text


def _quoted(part: Sequence[str]) -> str:
    return '"' + " ".join(part) + '"'
