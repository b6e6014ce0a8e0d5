"""The door that agents knock at: their own payload in, their own kind of answer out.

A cold ``hookline hook`` and the daemon both come through here, so an agent cannot tell which of them answered.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, maker, replace
from hookline.core.recursion import VARIABLE as DEPTH
from hookline.core.result import Started
from hookline.engine import fold
from hookline.gateway import derived
from hookline.gateway.notices import not_loaded, note_lines, problem_lines, remarks
from hookline.gateway.own_model import MARK
from hookline.gateway.probe import PROBE
from hookline.gateway.reply import in_its_words
from hookline.gateway.request import same

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.core.session_facts import Facts
    from hookline.dialects.base import Answer, Incoming
    from hookline.engine.build import Runtime
    from hookline.gateway.dedupe import Deduper, Earlier
    from hookline.gateway.request import AgentRequest

#: Variables of callers for whom no hook may be run: see ``spared``. Whether they mean anything is asked there.
_SPECIAL = frozenset({PROBE, MARK, DEPTH})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentResponse:
    """What the agent is given back."""

    exit_code: int
    stdout: str = ""
    stderr: str = ""
    #: Hooks go on in the background; somebody should wait for them.
    unfinished: bool = False
    #: What it was said for, and on which event.
    decision: Decision | None = None
    event: Event | None = None


_make_told = maker(AgentResponse)


def answered(
    one: AgentRequest,
    assembly: Runtime,
    *,
    ending: bool,
    once: Deduper | None = None,
    decided: Callable[[Answer], None] | None = None,
) -> AgentResponse:
    """Fire and translate. ``ending``: nobody is here afterwards, so hooks in the background are waited for now.

    ``once`` remembers events that come through several registrations. ``decided`` is told the answer before it is
    written down, which may take a while.
    """
    if not one.environ.keys().isdisjoint(_SPECIAL) and (spared := _without_hooks(one, assembly)) is not None:
        return spared
    if once is None or not one.asked.registration:
        return _fired(one, assembly, ending=ending, decided=decided)
    turn = once.enter(same(one), one.asked.registration, one.until)
    try:
        if turn.earlier is not None:
            return _told_again(one, assembly, turn.earlier)
        told = _fired(one, assembly, ending=ending, decided=decided)
        if told.decision is not None and told.event is not None:
            turn.keep(told.event, told.decision)
        return told
    finally:
        turn.leave()


def _without_hooks(one: AgentRequest, assembly: Runtime) -> AgentResponse | None:
    from hookline.gateway.bypass import spared  # noqa: PLC0415  hardly anybody has one of the variables

    said = spared(one, _event_of(one, assembly), assembly.engine, problem_lines(assembly))
    return None if said is None else _told(said.answer, said.lines)


def _told_again(one: AgentRequest, assembly: Runtime, earlier: Earlier) -> AgentResponse:
    """What was decided when the same event came through another registration."""
    event = _event_of(one, assembly)
    first, second = earlier.registration, one.asked.registration
    assembly.engine.recorder.mark(earlier.event_id, f"arrived through {first} and through {second}; its hooks ran once")
    answer = in_its_words(one.speaker, event, earlier.again(event)).answer
    return _told(answer, [*problem_lines(assembly), *note_lines(assembly.engine)])


def _fired(
    one: AgentRequest, assembly: Runtime, *, ending: bool, decided: Callable[[Answer], None] | None = None
) -> AgentResponse:
    last_word = _LastWord(one, assembly, decided)
    event, decision = _decision_on(one, assembly, last_word, ending=ending)
    goes_on = Started in map(type, decision.outcomes)
    if ending or (goes_on and _may_still_abort(decision, assembly)):
        engine = assembly.engine
        late = engine.join(None, one.until) if ending else engine.join(event.session)
        if late:
            decision = fold.amend(decision, late)
            last_word.amend(event, decision)
    assert last_word.answer is not None
    decision = last_word.as_meant(decision)
    lines = remarks(assembly, decision)
    return _told(last_word.answer, lines, unfinished=goes_on and not ending, decision=decision, event=event)


def _decision_on(one: AgentRequest, assembly: Runtime, last_word: _LastWord, *, ending: bool) -> tuple[Event, Decision]:
    engine, incoming = assembly.engine, one.incoming
    if not derived.fruitful(one.speaker.name, incoming.event):
        facts = engine.counted(incoming.event, incoming.data, _session_of(incoming))
        event = _event_of(one, assembly, facts)
        return event, engine.fire_counted(event, facts, last_word.finish)
    event = _event_of(one, assembly)
    scene = derived.Scene(
        agent=one.speaker.name, home=one.home, state=one.paths.state, environ=one.environ,
        caller=one.asker() if one.asker is not None else os.getpid() if ending else 0,
    )  # fmt: skip
    return event, derived.fired(engine, event, scene, last_word.finish)


class _LastWord:
    """On a decision, before it is recorded: the answer in the words of the agent that asked, and what was meant."""

    __slots__ = ("_assembly", "_decided", "_meant", "_one", "answer")

    def __init__(self, one: AgentRequest, assembly: Runtime, decided: Callable[[Answer], None] | None) -> None:
        self._one = one
        self._assembly = assembly
        self._decided = decided
        self._meant: Decision | None = None
        self.answer: Answer | None = None

    def finish(self, event: Event, decision: Decision) -> Decision:
        """What this agent cannot do is part of the record, and so is that it was refused for it."""
        one = self._one
        if one.asked.closed and self._assembly.loaded.problems:
            decision = _closed(event, decision, self._assembly)
        wording = in_its_words(one.speaker, event, decision)
        self.answer = wording.answer
        if self._decided is not None:
            self._decided(wording.answer)
        notes = wording.notes(one.asked.agent)
        if not notes:
            return decision
        if wording.refused:
            self._meant = decision
            decision = replace(decision, effect="deny", granted=False)
        return replace(decision, ignored=(*decision.ignored, *notes))

    def amend(self, event: Event, decision: Decision) -> None:
        """A failure in the background can change the answer, unless it was refused anyway."""
        if self._meant is None:
            self.answer = in_its_words(self._one.speaker, event, decision).answer

    def as_meant(self, decision: Decision) -> Decision:
        """Who asks through another registration may be an agent that can do what this one cannot."""
        meant = self._meant
        return decision if meant is None else replace(decision, effect=meant.effect, granted=meant.granted)


def _closed(event: Event, decision: Decision, assembly: Runtime) -> Decision:
    """A guard that could not be loaded says nothing, and its silence is no consent."""
    why = next(not_loaded(assembly), None)
    if why is None or decision.effect == "deny" or not event.kind.deniable:
        return decision
    reason = f"hookline failed: a hook that must not be skipped may be missing, since {why} (see: hookline check)"
    return replace(decision, effect="deny", granted=False, reason=reason, data=event.data, modified=False)


def _may_still_abort(decision: Decision, assembly: Runtime) -> bool:
    started = {outcome.id for outcome in decision.outcomes if isinstance(outcome, Started)}
    return bool(started) and any(spec.id in started and spec.on_failure == "abort" for spec in assembly.engine.specs)


def _event_of(one: AgentRequest, assembly: Runtime, facts: Facts | None = None) -> Event:
    incoming = one.incoming
    return assembly.engine.event(
        incoming.event, incoming.data, environ=one.environ, session=incoming.session, cwd=one.cwd,
        native=one.payload, native_name=incoming.native_name or one.name, until=one.until, facts=facts,
    )  # fmt: skip


def _session_of(incoming: Incoming) -> str:
    told = incoming.session or incoming.data.get("session_id")
    return told if isinstance(told, str) else ""


def _told(
    answer: Answer,
    lines: Sequence[str],
    *,
    unfinished: bool = False,
    decision: Decision | None = None,
    event: Event | None = None,
) -> AgentResponse:
    said = "".join([f"hookline: {line}\n" for line in lines]) if lines else ""
    return _make_told(
        exit_code=answer.exit_code,
        stdout=answer.stdout,
        stderr=said + answer.stderr,
        unfinished=unfinished,
        decision=decision,
        event=event,
    )
