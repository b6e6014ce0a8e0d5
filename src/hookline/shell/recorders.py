"""The recorders of a shell: records written while a command runs, and environment values left out."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from queue import SimpleQueue
from typing import Any, TypeVar

from hookline.core._dataclass import replace
from hookline.core.result import Outcome
from hookline.state.record import Record, Recorder, WrappedRecorder

#: Event -> the fields of its data with values of the environment.
_HIDDEN: Mapping[str, tuple[str, ...]] = {"env.change": ("value", "old"), "process.pre_spawn": ("env",)}


class RedactingRecorder(WrappedRecorder):
    """Passes every record on, with the values of the environment masked."""

    def __init__(self, inner: Recorder) -> None:
        super().__init__(inner)
        #: Events whose late answers may contain a value too.
        self._secret: set[str] = set()

    def write(self, record: Record) -> str | None:
        fields = _HIDDEN.get(record.event.kind.name)
        if fields is None or not any(record.event.data.get(field) for field in fields):
            return self._inner.write(record)
        decision = record.decision
        if any(outcome.raw is None for outcome in decision.outcomes):
            self._secret.add(record.event.id)
        return self._inner.write(
            replace(
                record,
                event=replace(record.event, data=_mask_fields(record.event.data, fields)),
                decision=replace(
                    decision,
                    data=_mask_fields(decision.data, fields),
                    outcomes=tuple(map(_mask_output, decision.outcomes)),
                ),
            )
        )

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        late = _mask_output(outcome) if event_id in self._secret else outcome
        self._secret.discard(event_id)
        self._inner.amend(event_id, late, aborts=aborts)


def _mask_fields(data: Mapping[str, Any], fields: tuple[str, ...]) -> Mapping[str, Any]:
    return {name: _mask(value) if name in fields else value for name, value in data.items()}


def _mask(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _mask(each) for name, each in value.items()}
    return value if value is None else f"[{len(str(value))} characters, not recorded]"


def _mask_output(outcome: Outcome) -> Outcome:
    """A hook's output may repeat the value; its decision is kept, its output is not."""
    raw = outcome.raw
    if raw is None or not (raw.stdout or raw.stderr):
        return outcome
    return replace(outcome, raw=replace(raw, stdout="[not recorded]" if raw.stdout else "", stderr="", value=None))


_T = TypeVar("_T")

#: Seconds that the end of a shell, or a denial, waits for pending records.
_FLUSH_TIMEOUT = 5.0
#: Seconds after which records are written although the shell is busy.
_MAX_DELAY = 0.05
#: Pending records; beyond that the shell waits for the writer.
_MAX_PENDING = 2000


class DeferredRecorder(WrappedRecorder):
    """Passes everything on in order, from a thread of its own."""

    def __init__(self, inner: Recorder) -> None:
        super().__init__(inner)
        self._todo: SimpleQueue[Callable[[], object] | None] = SimpleQueue()
        self._lock = threading.Lock()
        self._thread: threading.Thread | None = None
        self._closed = False
        #: The shell waits for a child, so writing costs nothing.
        self._resting = threading.Event()
        self._hurry = False

    def write(self, record: Record) -> str | None:
        decision = record.decision
        if self._closed or decision.effect != "allow" or decision.modified or self._todo.qsize() > _MAX_PENDING:
            self.catch_up()
            return self._inner.write(record)
        self._later(lambda: self._inner.write(record))
        return record.event.id

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        self._later(lambda: self._inner.amend(event_id, outcome, aborts=aborts))

    def mark(self, event_id: str, text: str) -> None:
        self._later(lambda: self._inner.mark(event_id, text))

    def close(self) -> None:
        self.catch_up()
        self._closed = True
        self._todo.put(None)
        super().close()

    def _later(self, work: Callable[[], object]) -> None:
        self._todo.put(work)
        if self._thread is None:
            with self._lock:
                if self._thread is None:
                    self._thread = threading.Thread(target=self._write, name="hookline-records", daemon=True)
                    self._thread.start()

    def rest(self, wait: Callable[[], _T]) -> _T:
        """Wait for something; pending records are written meanwhile."""
        self._resting.set()
        try:
            return wait()
        finally:
            self._resting.clear()

    def _write(self) -> None:
        """Writing would slow down a busy shell, so it starts when the shell waits, or after a short delay."""
        while (work := self._todo.get()) is not None:
            rested = self._hurry or self._resting.wait(_MAX_DELAY)
            work()
            while (not rested or self._hurry or self._resting.is_set()) and not self._todo.empty():
                if (more := self._todo.get()) is None:
                    return
                more()

    def catch_up(self) -> None:
        """Wait until all pending records are written."""
        if self._thread is None or not self._thread.is_alive():
            return
        done = threading.Event()
        self._todo.put(done.set)
        self._hurry = True
        resting = self._resting.is_set()
        self._resting.set()
        done.wait(_FLUSH_TIMEOUT)
        self._hurry = False
        if not resting:
            self._resting.clear()
