"""What is kept of a firing, and where: nowhere, or in the store (``record.store``)."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import dataclass
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Decision, Outcome
from hookline.core.typed import Protocol


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
