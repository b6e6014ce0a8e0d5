"""Search notes by their text."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from hookline.memory.notes.index import IndexedNote, NoteIndex


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


def keyword_query(texts: Iterable[str], most: int = _MAX_WORDS) -> Query:
    """The keywords of several texts, in order."""
    found: dict[str, None] = {}
    for text in texts:
        for word in split_words(text.lower()):
            if len(word) > 2 and word not in _STOP_WORDS and not word.isdigit():
                found[word] = None
    return Query(parts=tuple((word,) for word in found)[:most])


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


#: If more notes match, ranking says little; then the newest ones are searched first.
CROWD, NEWEST = 5_000, 10_000
#: Characters of a snippet.
_SNIPPET = 160


@dataclass(frozen=True, slots=True, kw_only=True)
class Hit:
    """``text`` is the part of the note with the words."""

    kind: str
    title: str
    text: str
    project: str
    session: str
    date: str
    path: str
    score: float


def search(
    index: NoteIndex, query: Query, *, scopes: Sequence[str] = (), limit: int = 10, kinds: tuple[str, ...] = ()
) -> list[Hit]:
    """Notes with all the words, best first; if they are too few, then those with some of them.

    ``scopes``: only notes of one of these; empty for all. Raises sqlite3.Error.
    """
    if not query:
        return []
    rows = _rows(index, query.all(), scopes, limit, kinds)
    if len(rows) < limit and len(query.parts) > 1:
        known = {(row.path, row.title) for row in rows}
        some = _rare_words(index, query)
        more = _rows(index, some.any(), scopes, limit, kinds) if some else []
        rows += [row for row in more if (row.path, row.title) not in known]
    return [_hit(row, query) for row in rows[:limit]]


def _rows(index: NoteIndex, match: str, scopes: Sequence[str], limit: int, kinds: tuple[str, ...]) -> list[IndexedNote]:
    within = f"{{title body tags}} : ({match})"
    if scopes:
        within = f"{{scope}} : ({' OR '.join(scopes)}) AND {within}"
    if index.matches_more_than(CROWD, within):
        newest = index.find(within, limit, kinds, since=max(0, index.newest() - NEWEST))
        if len(newest) == limit:
            return newest
    return index.find(within, limit, kinds)


def _rare_words(index: NoteIndex, query: Query) -> Query:
    """Without the words that nearly every note has: they cost the most and say the least."""
    rare = [part for part in query.parts if not index.matches_more_than(CROWD, Query(parts=(part,)).all())]
    return Query(parts=tuple(rare)) if rare else query


def _hit(row: IndexedNote, query: Query) -> Hit:
    return Hit(
        kind=row.kind, title=row.title, text=snippet(row.body, query.words), project=row.project, session=row.session,
        date=row.date, path=row.path, score=row.score,
    )  # fmt: skip


def snippet(body: str, words: Sequence[str]) -> str:
    """The part of a text around the first of the words, as one line."""
    flat = " ".join(body.split())
    lower = flat.lower()
    places = [place for word in words if (place := lower.find(word[:5].lower())) >= 0]
    start = max(0, min(places, default=0) - _SNIPPET // 4)
    if len(lower) != len(flat):  # a character whose lower case is longer
        start = min(start, max(0, len(flat) - _SNIPPET))
    piece = flat[start : start + _SNIPPET].strip()
    return f"{'…' if start else ''}{piece}{'…' if start + _SNIPPET < len(flat) else ''}"
