"""A recorded event, once more: against the hooks of today, or as another agent would have sent it.

Hooks really run, but in a session of their own: nothing is counted for the real one (turns, claims, rates), and what is
recorded of it says whose replay it is.
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.result import STATUS, Message, Started
from hookline.deploy.payload import build_payload
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events
from hookline.gateway.reply import write_reply
from hookline.state.record import WrappedRecorder
from hookline.state.record.query import REPLAY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hookline.core.agents import Agent
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.engine.engine import Engine
    from hookline.state.record import Record, Recorder
    from hookline.state.record.query import Row, Run

_CUT = re.compile(r"\[\d+ characters in all\]$")
_REDACTED = re.compile(r"\[redacted:[^\]]*\]")


@dataclass(frozen=True, slots=True, kw_only=True)
class _Part:
    """One hook, then and now; None where it had no part."""

    hook: str
    then: str | None
    now: str | None

    @property
    def differs(self) -> bool:
        return self.then != self.now


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplayResult:
    """What came of it. ``told`` is what the agent is told, in its own form."""

    row: Row
    event: Event
    decision: Decision
    agent: str
    parts: tuple[_Part, ...]
    differences: tuple[str, ...]
    told: Mapping[str, Any]


class ReplayRecorder(WrappedRecorder):
    """A recorder that writes everything down as a replay."""

    def __init__(self, inner: Recorder, original: str) -> None:
        super().__init__(inner)
        self._original = original

    def write(self, record: Record) -> str | None:
        said = Message(hook="hookline", text=f"a replay of {self._original}")
        decision = replace(record.decision, ignored=(*record.decision.ignored, said))
        event = replace(record.event, session=f"{REPLAY}{self._original}")
        return super().write(replace(record, event=event, decision=decision))


def original_data(row: Row) -> Mapping[str, Any]:
    """The data as they came, before any hook changed them."""
    data = row.before if row.before is not None else row.data
    return data if isinstance(data, dict) else {}


def gaps_in(value: Any, pointer: str = "$") -> Iterator[str]:
    """Where the record holds less than what happened."""
    if isinstance(value, str):
        if _REDACTED.search(value):
            yield f"{pointer} was redacted"
        if _CUT.search(value):
            yield f"{pointer} was cut"
    elif isinstance(value, dict):
        if "[dropped]" in value:
            yield f"{pointer} was too large to be kept"
            return
        for key, one in value.items():
            yield from gaps_in(one, f"{pointer}.{key}")
    elif isinstance(value, list):
        for index, one in enumerate(value):
            yield from gaps_in(one, f"{pointer}[{index}]")


def rebuild_event(row: Row, engine: Engine) -> Event:
    """The event as it was recorded; its environment is that of today."""
    event = engine.event(
        row.event, original_data(row), session=row.session, agent=row.agent, cwd=row.cwd, native_name=row.native_event
    )
    return replace(event, turn=row.turn)


def translate(event: Event, target: Agent) -> tuple[Event | None, tuple[str, ...]]:
    """The event as ``target`` would have sent it, and what it would not have told; None where it has no such event."""
    if event.kind.name not in native_events(target):
        return None, (f"{target.name} has no {event.kind.name}",)
    native = native_events(target)[event.kind.name]
    came = dialect_named(target.dialect).event_in(native, build_payload(target, event), event.environ)
    lost = [name for name in event.kind.fields if event.data.get(name) not in (None, "") and name not in came.data]
    there = replace(event, data=came.data, agent=target.name, native_name=native, native={})
    return there, tuple(f"{target.name} does not tell {name}" for name in lost)


def replay(row: Row, runs: Sequence[Run], event: Event, engine: Engine) -> ReplayResult:
    """Fire it, with ``engine`` made for its directory and with sessions of its own."""
    decision = engine.fire_event(event)
    if any(isinstance(outcome, Started) for outcome in decision.outcomes):
        engine.join(event.session)
    parts = tuple(_parts(runs, decision))
    told = write_reply(dialect_named(event.agent), event, decision)
    # As it is recorded: what the agent cannot carry out was refused.
    as_told = replace(decision, effect="deny", granted=False) if told.refused else decision
    return ReplayResult(
        row=row, event=event, decision=as_told, agent=event.agent, parts=parts,
        differences=tuple(_differences(row, as_told, parts)),
        told={
            "exit_code": told.answer.exit_code, "stdout": told.answer.stdout, "stderr": told.answer.stderr,
            "dropped": list(told.dropped), "refused": list(told.refused),
        },
    )  # fmt: skip


def _parts(runs: Sequence[Run], decision: Decision) -> Iterator[_Part]:
    then = {run.hook: _said(run.status, run.effect) for run in runs}
    now = {
        outcome.hook: _said(STATUS[type(outcome)], outcome.reply.effect if outcome.reply else None)
        for outcome in decision.outcomes
    }
    for hook in dict.fromkeys((*then, *now)):
        yield _Part(hook=hook, then=then.get(hook), now=now.get(hook))


def _as_kept(data: Mapping[str, Any]) -> Any:
    return json.loads(json.dumps(data, default=dict))


def _said(status: str, effect: str | None) -> str:
    return f"{status}, {effect}" if effect else status


def _differences(row: Row, decision: Decision, parts: Sequence[_Part]) -> Iterator[str]:
    """In the decision first; then hooks that came to something else without changing it."""
    if row.effect != decision.effect:
        yield f"it was {row.effect} and is {decision.effect}"
    elif row.reason != decision.reason and not _REDACTED.search(row.reason):
        yield "the reason is another"
    if bool(row.aborted) != bool(decision.aborted):
        yield "it ended the run" if row.aborted else "it ends the run now"
    if row.granted != decision.granted:
        yield "it was granted and is not" if row.granted else "it is granted now"
    if row.modified != decision.modified:
        yield "the data were changed, and are not now" if row.modified else "the data are changed now"
    elif row.modified and not any(gaps_in(row.data)) and row.data != _as_kept(decision.data):
        yield "the data are changed in another way"
    if [one["text"] for one in row.context] != [one.context.text for one in decision.context]:
        yield "the context that is added is another"
    yield from (f"{one.hook}: {one.then or 'not there'} → {one.now or 'not there'}" for one in parts if one.differs)
