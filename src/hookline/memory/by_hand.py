"""What a person or an agent does with memory directly: add, change, look at, and judge what contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import combinations
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import UsageError
from hookline.memory.journal.files import Author, Journal
from hookline.memory.journal.model import Entry, Kind, Op, State
from hookline.memory.journal.views import refresh
from hookline.memory.notes.related import stem
from hookline.memory.notes.words import topic_words

if TYPE_CHECKING:
    from hookline.memory.context import MemoryContext
    from hookline.memory.notes.index import NoteIndex

#: Days after which an entry is old, by its kind: nobody may know any more whether it still holds.
_OLD: dict[Kind, int] = {"open": 30, "decision": 180, "failure": 365, "learning": 365, "note": 180}
#: Two current decisions that are as alike as this may contradict each other: of their words, and of their vectors.
_SHARED, _ALIKE = 0.6, 0.7
_DETAIL: dict[Kind, str] = {"decision": "rationale", "failure": "prevention", "learning": "learning"}


@dataclass(frozen=True, slots=True, kw_only=True)
class _ReviewItem:
    """What a person should decide. ``why`` is one of question, rivals, alike, old."""

    why: str
    entries: tuple[Entry, ...]
    text: str


class Hand:
    """One project's memory in the hand of an author. Texts are redacted. Raises OSError, StateError and UsageError."""

    def __init__(self, context: MemoryContext, author: Author) -> None:
        self._context, self._author = context, author
        self._journal = Journal(context.places, context.project, context.here.cwd)

    def state(self) -> State:
        """With the edits that a person made in the files."""
        return refresh(self._context.places, self._journal, self._context.project.name)

    def find(self, given: str) -> Entry:
        """By the beginning of its id."""
        found = self.state().find(given)  # with edits made in files: a change comes after them
        if not found:
            raise UsageError(f"there is no entry {given!r} in this project; to find it: hookline memory search TEXT")
        if len(found) > 1:
            raise UsageError(f"{len(found)} entries begin with {given!r}: {', '.join(one.id for one in found[:5])}")
        return found[0]

    def add(
        self, kind: Kind, text: str, why: str = "", tags: tuple[str, ...] = (), *, everywhere: bool = False
    ) -> Entry:
        clean = self._context.clean(" ".join(text.split()))
        if not clean:
            raise UsageError('there is no text to remember; write: hookline memory add "TEXT"')
        details: dict[str, object] = {_DETAIL.get(kind, "context"): self._context.clean(why)} if why else {}
        details |= {"tags": list(tags)} if tags else {}
        entry = self._journal.add(kind, clean, self._author, details=details, everywhere=everywhere)
        self.state()
        return entry

    def edit(self, entry: Entry, text: str, why: str = "") -> Entry:
        details = {_DETAIL.get(entry.kind, "context"): self._context.clean(why)} if why else {}
        data: dict[str, object] = {"details": details} if details else {}
        data |= {"text": self._context.clean(" ".join(text.split()))} if text else {}
        return self.change("edit", entry, **data)

    def supersede(self, entry: Entry, text: str, why: str = "") -> tuple[Entry, Entry]:
        """A new entry takes the place of the old one, which stays as history."""
        if not entry.is_current:
            raise UsageError(f"{entry.id} is {entry.status} already; its history: hookline memory history {entry.id}")
        new = self.add(entry.kind, text, why, everywhere=not entry.project)
        if new.id == entry.id:
            raise UsageError(f"{entry.id} says this already")
        return self.change("supersede", entry, by=new.id, because=self._context.clean(why)), new

    def change(self, op: Op, entry: Entry, **data: object) -> Entry:
        self._journal.change(op, entry, self._author, **data)
        return self.state().entries[entry.id]


def age(entry: Entry, now: datetime) -> int:
    """Days since it was last confirmed: added, edited, pinned or reopened."""
    told = [one.at for one in entry.changes if one.op in {"add", "edit", "pin", "reopen"}]
    return max(0, (now - _moment(max(told, default=entry.created), now)).days)


def is_old(entry: Entry, now: datetime) -> bool:
    return entry.is_current and not entry.pinned and age(entry, now) > _OLD[entry.kind]


def _moment(text: str, default: datetime) -> datetime:
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return default
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def changes_since(state: State, now: datetime, seconds: float) -> dict[str, list[Entry]]:
    """By what happened: what is new, what ended, what is still open; oldest first."""
    begin = now - timedelta(seconds=seconds)
    new = [one for one in state.entries.values() if _moment(one.created, now) >= begin and one.status != "duplicate"]
    ended = [
        one
        for one in state.entries.values()
        if one.since and one.status != "duplicate" and _moment(one.since, now) >= begin
    ]
    return {
        **{kind: [one for one in new if one.kind == kind] for kind in ("decision", "failure", "learning", "note")},
        "ended": [one for one in ended if not one.is_current],
        "open": state.current("open"),
    }


def review(state: State, now: datetime, index: NoteIndex) -> Iterator[_ReviewItem]:
    """What only a person can decide, most pressing first."""
    for entry in state.entries.values():
        if entry.is_current and (asked := entry.question):
            because = str(asked.data.get("because") or asked.data.get("wants") or "a change that it may not make")
            yield _ReviewItem(why="question", entries=(entry,), text=f"the distiller asked: {because}")
    for entry in state.entries.values():
        if entry.is_current and entry.rivals:
            yield _ReviewItem(
                why="rivals", entries=(entry,), text="was edited in two places: " + " / ".join(entry.rivals)
            )
    for one, other in _alike(state.current("decision"), index):
        yield _ReviewItem(why="alike", entries=(one, other), text="may contradict each other")
    for entry in state.current():
        if is_old(entry, now):
            yield _ReviewItem(why="old", entries=(entry,), text=f"nobody confirmed it for {age(entry, now)} days")


def _alike(entries: list[Entry], index: NoteIndex) -> Iterator[tuple[Entry, Entry]]:
    near = index.vectors.alike((one.id for one in entries), _ALIKE)
    words = [{stem(word) for word in topic_words(one.text)} for one in entries]
    for (one, first), (other, second) in combinations(zip(entries, words, strict=True), 2):
        shared = len(first & second)
        same = shared >= 2 and shared / min(len(first), len(second)) >= _SHARED
        if same or (shared and frozenset((one.id, other.id)) in near):
            yield one, other
