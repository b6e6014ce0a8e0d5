"""Search notes by their words and by their meaning.

Lists are added up: notes with the words (BM25), with all of them, with a name that is asked for, and those that are near
in meaning: by their vectors, or by related words if there is no model (``sentence_model``). What is quoted must be there as
it is. What no longer counts is never the first, and what counts instead stands before it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.memory.notes.index import Only
from hookline.memory.notes.related import concepts
from hookline.memory.notes.words import Query, keyword_query, parse_query, split_words, topic_words

if TYPE_CHECKING:
    from hookline.memory.notes.index import NoteIndex
    from hookline.memory.notes.note_files import Note


#: Also what other rooms need of ``words``.
__all__ = ["Query", "keyword_query", "parse_query", "search", "snippet", "split_words"]

#: If more notes match, ranking says little; then the newest ones are searched first.
CROWD, NEWEST = 5_000, 10_000
#: Characters of a snippet.
_SNIPPET = 160


#: What lists count at most, relative to nearness in meaning, which is a cosine.
_WORDS, _ALL, _NAMED, _RELATED = 0.2, 1.0, 1.0, 0.3
#: Notes that share no word must be this near to be found at all.
_NEAR_ENOUGH = 0.2
_RELATED_DEPTH = 500
#: Of a note that no longer counts.
_HISTORY = 0.5
#: Notes that are considered.
_DEPTH = 100
#: Notes without a vector that a search embeds itself, 20 ms each; workers embed all.
_EMBED = 200


def search(
    index: NoteIndex,
    query: Query,
    *,
    scopes: Sequence[str] = (),
    limit: int = 10,
    kinds: tuple[str, ...] = (),
    agent: str = "",
    since: str = "",
    status: str = "",
    embed: int = _EMBED,
) -> list[Note]:
    """Best first. ``scopes``: only notes of one of these; empty for all. ``since``: a day. ``embed``: how many new notes may
    be embedded first. Raises sqlite3.Error."""
    if not query:
        return []
    only = Only(scopes=tuple(scopes), kinds=kinds, agent=agent, status=status, since=since)
    index.vectors.embed(embed)
    near = index.vectors.nearest(query.text or " ".join(query.words), only, max(_DEPTH, limit))
    scores = _scores(index, query, only, near, max(_DEPTH, limit))
    best = sorted(scores, key=lambda number: scores[number], reverse=True)[: 2 * limit + 20]
    rows = sorted(
        index.notes({number: scores[number] for number in best}, near),
        key=lambda row: row.score * (1 if row.status == "current" else _HISTORY),
        reverse=True,
    )
    best_rows = _current_first(index, rows[: max(limit, 20)], only)[:limit]
    return [replace(row, text=snippet(row.body, query.words)) for row in best_rows]


def _scores(index: NoteIndex, query: Query, only: Only, near: Mapping[int, float], depth: int) -> dict[int, float]:
    """Of the notes that may be meant."""
    if query.exact:
        exact = f"({query.required()}) AND ({query.any()})"
        if found := _rank(index, exact, only, depth):
            return found
    total: dict[int, float] = {}
    some, most = _rare_words(index, query)
    for number, score in _rank(index, some.any(), only, depth).items():
        total[number] = _WORDS * min(1.0, score / most) ** 2  # half of the words is much less than all of them
    whole = _rank(index, query.all(), only, depth) if len(query.parts) > 1 else total
    _add(total, dict.fromkeys(whole, _ALL))
    for name in query.names:
        _add(total, dict.fromkeys(_rank(index, Query(parts=(name,)).all(), only, depth), _NAMED))
    _add(total, {number: how for number, how in near.items() if how >= _NEAR_ENOUGH or number in total})
    if not near or not total:  # a question of one or two words may be near to nothing
        _add(total, _related(index, query.text or " ".join(query.words), only))
    return total


def _related(index: NoteIndex, text: str, only: Only) -> dict[int, float]:
    """Notes with related words. A word of many groups says little about each."""
    asked: dict[str, float] = {}
    for word in topic_words(text):
        groups = concepts(word)
        for group in groups:
            asked[group] = asked.get(group, 0.0) + index.rarity(f"{{related}} : {group}", CROWD) / len(groups)
    telling = [group for group, rarity in asked.items() if rarity]
    most = max(1.0, sum(asked.values()))
    rows = index.related(" OR ".join(telling), only, _RELATED_DEPTH) if telling else ()
    return {number: _RELATED * sum(asked.get(group, 0.0) for group in groups.split()) / most for number, groups in rows}


def _add(total: dict[int, float], scores: Mapping[int, float]) -> None:
    for number, score in scores.items():
        total[number] = total.get(number, 0.0) + score


def _rank(index: NoteIndex, match: str, only: Only, depth: int) -> dict[int, float]:
    within = f"{{title body tags}} : ({match})"
    if index.count(within, CROWD) > CROWD:
        newest = index.rank(within, only, depth, after=max(0, index.newest() - NEWEST))
        if len(newest) == depth:
            return newest
    return index.rank(within, only, depth)


def _current_first(index: NoteIndex, rows: list[Note], only: Only) -> list[Note]:
    """An entry that was superseded comes after its successor, which may say it in other words; and none comes first."""
    there = {row.entry: row for row in rows if row.entry}
    missing = index.entries(row.successor for row in rows if row.successor and row.successor not in there)
    there |= {row.entry: row for row in index.notes(dict.fromkeys(missing.values(), 0.0))} if not only.status else {}
    found: dict[tuple[str, str, str], Note] = {}
    for row in rows:
        successor = there.get(row.successor)
        for one in (successor, row) if successor and successor.status == "current" else (row,):
            found.setdefault((one.path, one.entry, one.title), replace(one, score=max(one.score, row.score)))
    first = next((key for key, row in found.items() if row.status == "current"), None)
    return [found.pop(first), *found.values()] if first else list(found.values())


def _rare_words(index: NoteIndex, query: Query) -> tuple[Query, float]:
    """Without the words that nearly every note has: they cost the most and say the least. And the score of a note that
    has them all."""
    rarity = {part: index.rarity(Query(parts=(part,)).all(), CROWD) for part in query.parts}
    rare = tuple(part for part, weight in rarity.items() if weight)
    return (replace(query, parts=rare) if rare else query), max(1.0, sum(rarity.values()))


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
