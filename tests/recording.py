"""A recorder that keeps records in memory, for tests to read."""

from __future__ import annotations

from hookline.core._dataclass import replace
from hookline.core.result import Aborted, Message, Outcome
from hookline.state.record import Record


class MemoryRecorder:
    """Keeps the latest records."""

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
