"""Entries, and the fold of changes into them.

A change names its entry and its place among that entry's changes (``number``), which its writer counts. Clocks only
break ties: a machine whose clock is wrong cannot undo what it had seen. Two changes with the same number were made
without knowing of each other; both stay, and two edits of this kind are a conflict for a person.
"""

from __future__ import annotations

import hashlib
import re
import unicodedata
from collections.abc import Iterable, Mapping
from typing import Any, Literal

from hookline.core._dataclass import dataclass, empty, field, replace

Kind = Literal["decision", "failure", "open", "learning", "note"]
KINDS: tuple[Kind, ...] = ("decision", "failure", "open", "learning", "note")
#: Who made a change. A person's word counts more than a distiller's.
Source = Literal["distiller", "agent", "person"]
_Status = Literal["current", "superseded", "closed", "retired", "duplicate"]
STATUSES: tuple[_Status, ...] = ("current", "superseded", "closed", "retired")
#: ``question``: a distiller wanted a change that it may not make; a person decides. ``distilled``: a session was read.
Op = Literal[
    "add", "edit", "supersede", "close", "retire", "reopen", "pin", "unpin", "question", "duplicate", "distilled"
]
_ENDS: Mapping[str, _Status] = {
    "supersede": "superseded", "close": "closed", "retire": "retired", "duplicate": "duplicate", "reopen": "current",
}  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One line of a journal. ``data`` depends on ``op``: an entry's fields, ``by`` (a successor), ``because``."""

    id: str
    op: Op
    entry: str = ""
    #: Among the changes of the entry, from 0.
    number: int = 0
    #: UTC, ISO 8601.
    at: str = ""
    source: Source = "person"
    agent: str = ""
    session: str = ""
    machine: str = ""
    data: Mapping[str, Any] = field(default_factory=empty)


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """An entry as it is now. ``details``: rationale, prevention, context, tags and the like."""

    id: str
    kind: Kind
    text: str
    #: The name of the project's folder, which is unique for a repository.
    project: str = ""
    created: str = ""
    source: Source = "person"
    agent: str = ""
    session: str = ""
    details: Mapping[str, Any] = field(default_factory=empty)
    status: _Status = "current"
    #: When the status began, why, and the entry that counts instead.
    since: str = ""
    because: str = ""
    successor: str = ""
    pinned: bool = False
    #: Every change, oldest first.
    changes: tuple[Change, ...] = ()
    #: Texts of edits that were made without knowing of each other; the entry has the last one.
    rivals: tuple[str, ...] = ()

    @property
    def is_current(self) -> bool:
        return self.status == "current"

    @property
    def question(self) -> Change | None:
        """What a distiller asked of a person, while nobody has answered by another change."""
        last = self.changes[-1] if self.changes else None
        return last if last is not None and last.op == "question" else None


@dataclass(frozen=True, slots=True, kw_only=True)
class State:
    """``entries`` by id, oldest first; ``distilled``: per session, the time of the transcript that was read last;
    ``states``: fingerprints of conversations that were read."""

    entries: Mapping[str, Entry] = field(default_factory=empty)
    distilled: Mapping[str, float] = field(default_factory=empty)
    states: frozenset[str] = frozenset()

    def current(self, *kinds: Kind) -> list[Entry]:
        return [one for one in self.entries.values() if one.is_current and (not kinds or one.kind in kinds)]

    def find(self, given: str) -> list[Entry]:
        """The entries whose id begins so."""
        exact = self.entries.get(given)
        return [exact] if exact else [one for one in self.entries.values() if given and one.id.startswith(given)]


def fold(changes: Iterable[Change]) -> State:
    """The state after all changes, in whichever order they are given. A change that is given twice counts once."""
    added: dict[str, Change] = {}
    others: dict[str, dict[str, Change]] = {}
    distilled: dict[str, float] = {}
    states: set[str] = set()
    for one in changes:
        if one.op == "add":
            known = added.get(one.entry)
            added[one.entry] = one if known is None else min(known, one, key=_order)
        elif one.op == "distilled":
            until = one.data.get("until")
            distilled[one.session] = max(distilled.get(one.session, 0.0), until if isinstance(until, float) else 0.0)
            states.add(_text(one.data.get("state")))
        else:
            others.setdefault(one.entry, {})[one.id] = one
    entries = [_entry(one, sorted(others.get(one.entry, {}).values(), key=_order)) for one in added.values()]
    entries.sort(key=lambda one: (one.created, one.id))
    return State(entries=_without_duplicates(entries), distilled=distilled, states=frozenset(states - {""}))


def _order(change: Change) -> tuple[int, str, str]:
    return change.number, change.at, change.id


def _entry(added: Change, changes: list[Change]) -> Entry:
    kind = added.data.get("kind")
    entry = Entry(
        id=added.entry, kind=kind if kind in KINDS else "note", text=_text(added.data.get("text")),
        project=_text(added.data.get("project")), created=added.at, source=added.source, agent=added.agent,
        session=added.session, details=_table(added.data.get("details")), changes=(added, *changes),
    )  # fmt: skip
    for change in changes:
        entry = _apply(entry, change)
    return replace(entry, rivals=_rivals(changes)) if len(changes) > 1 else entry


def _apply(entry: Entry, change: Change) -> Entry:
    because = _text(change.data.get("because"))
    if change.op == "edit":
        details = {**entry.details, **_table(change.data.get("details"))}
        return replace(entry, text=_text(change.data.get("text")) or entry.text, details=details)
    if change.op in {"pin", "unpin"}:
        return replace(entry, pinned=change.op == "pin")
    status = _ENDS.get(change.op)
    if status is None:
        return entry
    return replace(entry, status=status, since=change.at, because=because, successor=_text(change.data.get("by")))


def _rivals(changes: list[Change]) -> tuple[str, ...]:
    """The texts of the last edits, if there are several with one number and a person has not chosen since."""
    edits = [one for one in changes if one.op == "edit"]
    last = [one for one in edits if one.number == edits[-1].number]
    texts = dict.fromkeys(_text(one.data.get("text")) for one in last)
    seen = last[-1].number + len(last) if last else 0  # the number of a change whose writer saw them all
    chosen = any(one.source == "person" and one.number >= seen for one in changes)
    return tuple(texts) if len(texts) > 1 and not chosen else ()


def _without_duplicates(entries: list[Entry]) -> dict[str, Entry]:
    """Two machines may have learned the same: the later of two current entries with one text is a duplicate."""
    first: dict[tuple[str, str, str], str] = {}
    found: dict[str, Entry] = {}
    for entry in entries:
        key = (entry.project, entry.kind, text_key(entry.text))
        if entry.is_current and entry.kind != "note":
            original = first.setdefault(key, entry.id)
            if original != entry.id:
                entry = replace(entry, status="duplicate", since=entry.created, successor=original)  # noqa: PLW2901
        found[entry.id] = entry
    return found


def text_key(text: str) -> str:
    """Equal for texts that differ only in case, spacing, punctuation or Unicode form."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    words = re.sub(r"[^\w]+", " ", folded).strip()
    return digest(words or " ".join(folded.split()))


def digest(*parts: object) -> str:
    """Sixteen hexadecimal digits."""
    return hashlib.sha256("\0".join(map(str, parts)).encode("utf-8", "replace")).hexdigest()[:16]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _table(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else empty()
