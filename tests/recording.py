"""A recorder that keeps records in memory, for tests to read; and recordings, read again."""

from __future__ import annotations

import json

from hookline.core._dataclass import replace
from hookline.core.result import Aborted, Message, Outcome
from hookline.dialects import dialect_named
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


#: Fields in which payloads name their event.
NAMING = {"hook_event_name", "hookEventName", "hookName", "agent_action_name", "event_type", "type", "event"}


def differences(text: str) -> list[str]:
    """Where the dialect of today reads a recording otherwise than it was read then; new events and fields are none."""
    bundle = json.loads(text)
    dialect = dialect_named(str(bundle["agent"]))
    found: list[str] = []
    for number, one in enumerate(bundle["events"]):
        now = dialect.event_in(one["native_event"], one["payload"], {})
        derived = {"PostToolUseFailure": "PostToolUse"}.get(now.event, now.event)
        if one["event"] not in {now.event, derived}:
            found.append(f"events[{number}]: {one['native_event']} was {one['event']}, and is {now.event}")
        found += [
            f"events[{number}]: {name} is lost"
            for name in one["payload"]
            if name not in now.data and name not in NAMING
        ]
    return found
