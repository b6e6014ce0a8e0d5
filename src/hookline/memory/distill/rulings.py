"""Which of the changes that a distiller wants are made.

Its answer may be wrong, or written by somebody else: a transcript can contain instructions for it. So it changes only
what the session was about, by the session's own words. It touches nothing that a person wrote or pinned. Whatever else
it wants becomes a question for a person (``hookline memory review``), and everything it does can be undone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.memory.distill.answer import Distilled, Mention
from hookline.memory.distill.digest import Digest, keywords
from hookline.memory.journal.model import Entry, text_key

#: Changes of each kind in one answer, and entries that one new entry may supersede.
_MAX_ENDS, _MAX_REPLACED = 8, 3
#: The share of an item's keywords that the session must have, without and with a quotation of the session.
_SHARE, _MIN_QUOTE = 0.5, 10
#: The share of common keywords from which two open items are one.
_SAME = 0.7


@dataclass(frozen=True, slots=True, kw_only=True)
class Ruling:
    """``entry`` is an id; ``by`` the text of the new entry, or the id of a known one."""

    op: Literal["supersede", "close", "duplicate", "question"]
    entry: str
    by: str = ""
    because: str = ""
    #: What a question wants.
    wants: str = ""


def judge(results: Distilled, known: Sequence[Entry], digest: Digest) -> tuple[list[Ruling], list[str]]:
    """The changes to make, and what was not understood. ``known`` are the numbered entries, from 1."""
    notes: list[str] = []
    ruled: dict[str, Ruling] = {}
    wanted = [*_supersedes(results, known, digest, notes), *_closes(results, known, digest, notes)]
    wanted += _duplicates(results, known, notes)
    for one in sorted(wanted, key=lambda ruling: ruling.op == "question"):
        ruled.setdefault(one.entry, one)
    return list(ruled.values()), notes


def _supersedes(results: Distilled, known: Sequence[Entry], digest: Digest, notes: list[str]) -> Iterator[Ruling]:
    new = {text_key(one): one for one in _new_texts(results)}
    replaced: dict[str, int] = {}
    for mention, entry in _entries(results.supersedes, known, notes):
        by = new.get(text_key(mention.by), "") or (next(iter(new.values())) if len(new) == 1 else "")
        replaced[by] = replaced.get(by, 0) + 1
        about = bool(keywords(entry.text) & (digest.words | keywords(by)))
        # An open item ends when it is done, not when something else is decided.
        allowed = entry.kind != "open" and bool(by) and about and replaced[by] <= _MAX_REPLACED
        allowed = allowed and text_key(by) != text_key(entry.text)
        yield _ruling("supersede", entry, mention, by=by, allowed=allowed)


def _closes(results: Distilled, known: Sequence[Entry], digest: Digest, notes: list[str]) -> Iterator[Ruling]:
    still = {one.number for one in results.still_open}
    count = 0
    for mention, entry in _entries(results.closes, known, notes):
        if mention.number in still:
            notes.append(f"{mention.number} is both closed and open: it stays open")
            continue
        count += 1
        allowed = entry.kind == "open" and count <= _MAX_ENDS and _is_about(entry, mention, digest)
        yield _ruling("close", entry, mention, allowed=allowed)


def _duplicates(results: Distilled, known: Sequence[Entry], notes: list[str]) -> Iterator[Ruling]:
    for mention, entry in _entries(results.duplicates[:_MAX_ENDS], known, notes):
        digits = mention.by.strip("#[] ")
        number = int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 5 else 0
        of = known[number - 1] if 0 < number <= len(known) and number != mention.number else None
        if of is None or of.kind != entry.kind:
            continue
        first, second = sorted((of, entry), key=lambda one: (one.created, one.id))
        alike = bool(keywords(first.text) & keywords(second.text))
        yield _ruling("duplicate", second, mention, by=first.id, allowed=alike)


def _ruling(
    op: Literal["supersede", "close", "duplicate"], entry: Entry, mention: Mention, *, allowed: bool, by: str = ""
) -> Ruling:
    if allowed and entry.source != "person" and not entry.pinned:
        return Ruling(op=op, entry=entry.id, by=by, because=mention.evidence)
    return Ruling(op="question", entry=entry.id, by=by, because=mention.evidence, wants=op)


def _is_about(entry: Entry, mention: Mention, digest: Digest) -> bool:
    """Whether the session has enough of the item's words; fewer are enough beside a true quotation. A session that
    opened the item has its words anyway."""
    own = keywords(entry.text)
    shared = len(own & digest.words)
    quote = " ".join(mention.evidence.split()).casefold()
    quoted = len(quote) >= _MIN_QUOTE and any(quote in " ".join(text.split()).casefold() for _role, text in digest.last)
    opened = bool(entry.session) and entry.session == digest.about.session
    enough = shared >= len(own) * _SHARE and not opened
    return bool(shared) and (quoted or enough)


def _entries(mentions: Sequence[Mention], known: Sequence[Entry], notes: list[str]) -> Iterator[tuple[Mention, Entry]]:
    for mention in mentions:
        if 0 < mention.number <= len(known):
            yield mention, known[mention.number - 1]
        else:
            notes.append(f"there is no entry {mention.number}")


def _new_texts(results: Distilled) -> list[str]:
    summaries = [*(one.summary for one in results.decisions), *(one.summary for one in results.failures)]
    return [*summaries, *(one.title for one in results.learnings)]


def new_items(items: Sequence[str], known: Sequence[Entry]) -> list[str]:
    """The pending items that are not open already, in these or nearly these words."""
    there = [keywords(one.text) for one in known if one.kind == "open"]
    fresh: list[str] = []
    for item in items:
        own = keywords(item)
        if not own or not any(len(own & other) >= _SAME * len(own | other) for other in there):
            fresh.append(item)
            there.append(own)
    return fresh
