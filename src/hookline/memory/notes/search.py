"""Search notes by their text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.memory.notes.query import Query

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.memory.notes.index import IndexedNote, NoteIndex

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
