"""Run a recorded event again: with today's hooks, or as another agent would have sent it.

Hooks really run, but in a separate session: turns, claims and rate limits of the real one do not change, and the record
names the original event.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import Agent
from hookline.core.errors import UsageError
from hookline.core.event import Event
from hookline.core.result import STATUS, Decision, Message, Started
from hookline.deploy.payload import build_payload
from hookline.dialects import dialect_named
from hookline.dialects.base import Dialect
from hookline.dialects.event_lookup import native_events
from hookline.engine.engine import Engine
from hookline.gateway.reply import write_reply
from hookline.state.record import Record, Recorder, WrappedRecorder
from hookline.state.record.query import REPLAY, Row, Run

_CUT = re.compile(r"\[\d+ characters in all\]$")
_REDACTED = re.compile(r"\[redacted:[^\]]*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One hook, then and now; None if it did not take part."""

    hook: str
    then: str | None
    now: str | None

    @property
    def differs(self) -> bool:
        return self.then != self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """The result. ``told`` is the answer in the agent's format."""

    decision: Decision
    parts: tuple[_Part, ...]
    differences: tuple[str, ...]
    told: Mapping[str, Any]


class ReplayRecorder(WrappedRecorder):
    """Records everything as a replay."""

    def __init__(self, inner: Recorder, original: str) -> None:
        super().__init__(inner)
        self._original = original

    def write(self, record: Record) -> str | None:
        said = Message(hook="hookline", text=f"a replay of {self._original}")
        decision = replace(record.decision, ignored=(*record.decision.ignored, said))
        event = replace(record.event, session=f"{REPLAY}{self._original}")
        return super().write(replace(record, event=event, decision=decision))


def original_data(row: Row) -> Mapping[str, Any]:
    """The data before any hook changed it."""
    data = row.before if row.before is not None else row.data
    return data if isinstance(data, dict) else {}


def gaps_in(value: Any, pointer: str = "$") -> Iterator[str]:
    """Where the record is incomplete."""
    if isinstance(value, str):
        if _REDACTED.search(value):
            yield f"{pointer} was redacted"
        if _CUT.search(value):
            yield f"{pointer} was cut"
    elif isinstance(value, dict):
        if "[dropped]" in value:
            yield f"{pointer} was too large to record"
            return
        for key, one in value.items():
            yield from gaps_in(one, f"{pointer}.{key}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from gaps_in(one, f"{pointer}[{index}]")


def rebuild_event(row: Row, engine: Engine) -> Event:
    """The event as recorded, with today's environment."""
    event = engine.event(
        row.event, original_data(row), session=row.session, agent=row.agent, cwd=row.cwd, native_name=row.native_event
    )
    return replace(event, turn=row.turn)


def translate(event: Event, target: Agent) -> tuple[Event | None, tuple[str, ...]]:
    """The event as ``target`` would have sent it, and the fields it does not send; None if it lacks the event."""
    if event.kind.name not in native_events(target):
        return None, (f"{target.name} has no {event.kind.name}",)
    native = native_events(target)[event.kind.name]
    came = dialect_named(target.dialect).event_in(native, build_payload(target, event), event.environ)
    lost = [name for name in event.kind.fields if event.data.get(name) not in (None, "") and name not in came.data]
    there = replace(event, data=came.data, agent=target.name, native_name=native, native={})
    return there, tuple(f"{target.name} does not send {name}" for name in lost)


def replay(row: Row, runs: Sequence[Run], event: Event, engine: Engine) -> ReplayResult:
    """Fire it; ``engine`` was built for its directory, with separate sessions."""
    engine.ask_nobody()
    decision = engine.fire_event(event)
    if any(isinstance(outcome, Started) for outcome in decision.outcomes):
        engine.join(event.session)
    parts = tuple(_parts(runs, decision))
    told = write_reply(_sender_dialect(event.agent), event, decision)
    # As it is recorded: what the agent does not support was denied.
    as_told = replace(decision, effect="deny", granted=False) if told.refused else decision
    return ReplayResult(
        decision=as_told, parts=parts,
        differences=tuple(_differences(row, as_told, parts)),
        told={
            "exit_code": told.answer.exit_code, "stdout": told.answer.stdout, "stderr": told.answer.stderr,
            "dropped": list(told.dropped), "refused": list(told.refused),
        },
    )  # fmt: skip


def _sender_dialect(agent: str) -> Dialect:
    """A shell, or a program with a name of its own, is answered as hookline answers."""
    try:
        return dialect_named(agent)
    except UsageError:
        return dialect_named("native")


def _parts(runs: Sequence[Run], decision: Decision) -> Iterator[_Part]:
    then = {run.hook: _outcome_text(run.status, run.effect) for run in runs}
    now = {
        outcome.hook: _outcome_text(STATUS[type(outcome)], outcome.reply.effect if outcome.reply else None)
        for outcome in decision.outcomes
    }
    for hook in dict.fromkeys((*then, *now)):
        yield _Part(hook=hook, then=then.get(hook), now=now.get(hook))


def _as_recorded(data: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(data, default=dict))


def _outcome_text(status: str, effect: str | None) -> str:
    return f"{status}, {effect}" if effect else status


def _differences(row: Row, decision: Decision, parts: Sequence[_Part]) -> Iterator[str]:
    """Differences in the decision first; then hooks with a different outcome."""
    if row.effect != decision.effect:
        yield f"it was {row.effect} and is {decision.effect}"
    elif row.reason != decision.reason and not _REDACTED.search(row.reason):
        yield "the reason differs"
    if bool(row.aborted) != bool(decision.aborted):
        yield "it aborted the run, and does not now" if row.aborted else "it aborts the run now"
    if row.granted != decision.granted:
        yield "it was granted and is not" if row.granted else "it is granted now"
    if row.modified != decision.modified:
        yield "the data was changed, and is not now" if row.modified else "the data is changed now"
    elif row.modified and not any(gaps_in(row.data)) and row.data != _as_recorded(decision.data):
        yield "the data is changed differently"
    if [one["text"] for one in row.context] != [one.context.text for one in decision.context]:
        yield "the added context differs"
    yield from (f"{one.hook}: {one.then or 'not there'} → {one.now or 'not there'}" for one in parts if one.differs)
