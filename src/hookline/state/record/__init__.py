"""What is kept of a firing, and where: in memory, nowhere, or in the store (``record.store``)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Protocol

from hookline.core._dataclass import dataclass, replace
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Aborted, Decision, Message, Outcome


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """One firing: the event, the decision, the hooks that took part (by id), and how long it took."""

    event: Event
    decision: Decision
    specs: Mapping[str, HookSpec]
    ms: float = 0.0


class Recorder(Protocol):
    """Keeps records. Never raises: a firing does not fail because it could not be written down."""

    @property
    def note(self) -> str:
        """Why the latest write failed, or what was wrong on opening; "" when all is well."""
        ...

    def write(self, record: Record) -> str | None:
        """The id under which the record was kept, or None when it was not; ``note`` then says why."""
        ...

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        """Replace the "started" of a background hook by its outcome; ``aborts``: it ended the run."""
        ...

    def mark(self, event_id: str, text: str) -> None:
        """Add a remark to a firing: that it came a second time, through another registration."""
        ...

    def close(self) -> None: ...


class MemoryRecorder:
    """Keeps the latest records in memory, for tests and programs that read them."""

    def __init__(self, limit: int = 1000) -> None:
        self.records: list[Record] = []
        self.note = ""
        self._limit = limit
        self._count = 0

    def write(self, record: Record) -> str | None:
        self._count += 1
        self.records.append(record)
        del self.records[: -self._limit]
        return record.event.id or f"memory-{self._count}"

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        for number, record in enumerate(self.records):
            if record.event.id == event_id:
                outcomes = tuple(outcome if one.id == outcome.id else one for one in record.decision.outcomes)
                decision = replace(record.decision, outcomes=outcomes)
                if aborts and decision.aborted is None:
                    ended = Aborted(hook=outcome.hook, message=outcome.error)
                    decision = replace(decision, effect="deny", granted=False, reason=outcome.error, aborted=ended)
                self.records[number] = replace(record, decision=decision)

    def mark(self, event_id: str, text: str) -> None:
        for number, record in enumerate(self.records):
            if record.event.id == event_id:
                ignored = (*record.decision.ignored, Message(hook="hookline", text=text))
                self.records[number] = replace(record, decision=replace(record.decision, ignored=ignored))

    def close(self) -> None:
        pass


class NullRecorder:
    """Keeps nothing: ``[record] enabled = false``."""

    note = ""

    def write(self, record: Record) -> str | None:  # the protocol's signature
        return None

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        pass

    def mark(self, event_id: str, text: str) -> None:
        pass

    def close(self) -> None:
        pass


class WrappedRecorder:
    """Passes everything on to another recorder; subclasses change parts of it."""

    def __init__(self, inner: Recorder) -> None:
        self._inner = inner

    @property
    def note(self) -> str:
        return self._inner.note

    def write(self, record: Record) -> str | None:
        return self._inner.write(record)

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        self._inner.amend(event_id, outcome, aborts=aborts)

    def mark(self, event_id: str, text: str) -> None:
        self._inner.mark(event_id, text)

    def close(self) -> None:
        self._inner.close()
