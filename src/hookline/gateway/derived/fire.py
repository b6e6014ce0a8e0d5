"""One event of an agent, with all that is made up around it, fired in the order in which it happened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.builtin_hooks import is_ours
from hookline.core.event import Event, event_kind
from hookline.core.result import Decision, Message
from hookline.engine.engine import Engine
from hookline.gateway.derived import prompt_origin

if TYPE_CHECKING:
    from hookline.core.agents import Agent
    from hookline.core.processes import Process
    from hookline.gateway.derived import DerivedContext, Finish


#: Ways in which a session starts that is already running.
_RUNNING = frozenset({"compact"})
_BROKEN = frozenset({"error", "timeout", "abort"})


def _derive(engine: Engine, event: Event, name: str, data: Mapping[str, Any], *more: str) -> Event:
    """An event of this name at the same moment, in the same session; ``more`` was made up besides."""
    kept = {key: event.data[key] for key in _KEPT if key in event.data}
    whole = {**kept, **data, "derived": ["event", *more], "derived_from": event.kind.name}
    return replace(event, kind=event_kind(name), data=whole, id=engine.event(name, whole).id)


_KEPT = ("session_id", "transcript_path", "cwd", "model", "agent_id", "conversation_id", "permission_mode")


def _run_start(engine: Engine, event: Event) -> Event | None:
    if str(event.data.get("source")) in _RUNNING:
        return None
    return _derive(engine, event, "RunStart", {"run_id": event.session, "source": event.data.get("source")})


def _run_end(engine: Engine, event: Event, tokens: dict[str, int] | None, started: float) -> Event:
    reason = event.data.get("reason")
    data: dict[str, Any] = {"run_id": event.session, "status": "error" if str(reason) in _BROKEN else "success"}
    if data["status"] == "error":
        data["error_message"] = f"the session ended: {reason}"
    if tokens is not None:
        data["tokens"] = tokens
    lasted = event.data.get("duration_ms")
    if isinstance(lasted, int | float):
        data["duration_ms"] = lasted
    elif started:
        data["duration_ms"] = max(0, round((event.time - started) * 1000))
    return _derive(engine, event, "RunEnd", data, *(("tokens",) if tokens is not None else ()))


def _assistant_message(engine: Engine, event: Event, message: str, tokens: dict[str, int] | None) -> Event:
    """The last reply of a turn: its tool calls, if it had any, are done. ``final_pass_count`` says how often the agent
    was sent on in this turn."""
    data: dict[str, Any] = {"message": message, "tool_use_done": True, "loop_count": 0}
    sent_on = event.data.get("continuations")
    data["final_pass_count"] = sent_on if isinstance(sent_on, int) else 0
    if tokens is not None:
        data["tokens"] = tokens
    return _derive(engine, event, "AssistantMessage", data, *(("tokens",) if tokens is not None else ()))


def _session_end(engine: Engine, event: Event, session: str, transcript: str) -> Event:
    """The end of another session of the same agent and project, which said nothing when it went."""
    data: dict[str, Any] = {
        "session_id": session, "reason": "other", "cwd": event.cwd, "derived": ["event"],
        "derived_from": event.kind.name,
    }  # fmt: skip
    if transcript:
        data["transcript_path"] = transcript
    return replace(
        event, kind=event_kind("SessionEnd"), data=data, id=engine.event("SessionEnd", data).id, session=session, turn=0,
        native={}, native_name="",
    )  # fmt: skip


def _merge_decisions(decision: Decision, others: Sequence[Decision]) -> Decision:
    """What is told. Said earlier stands first."""
    if not any(other.context or other.messages or other.ignored or other.effect == "deny" for other in others):
        return decision
    refused = tuple(_refusal(other) for other in others if other.effect == "deny")
    return replace(
        decision,
        context=(*(one for other in others for one in other.context), *decision.context),
        messages=(*(one for other in others for one in other.messages), *refused, *decision.messages),
        ignored=(*(one for other in others for one in other.ignored), *decision.ignored, *refused),
    )


def _refusal(other: Decision) -> Message:
    aborted = other.aborted
    who = aborted.hook if aborted is not None else "hookline"
    why = other.reason or (aborted.message if aborted is not None else "")
    return Message(hook=who, text=f"{other.event} was refused, which this agent cannot carry out: {why}")


def _with_outcomes(decision: Decision, others: Sequence[Decision]) -> Decision:
    """For whoever waits for hooks in the background: those of the made-up events are among them."""
    more = tuple(outcome for other in others for outcome in other.outcomes)
    return replace(decision, outcomes=(*more, *decision.outcomes)) if more else decision


def fire_around(engine: Engine, event: Event, scene: DerivedContext, agent: Agent, finish: Finish | None) -> Decision:
    if event.kind.continues and agent.marks_continuation and event.native.get("stop_hook_active") is False:
        _forgive_continuations(engine, event)
    work = _Work(engine=engine, scene=scene, agent=agent, own=event)
    earlier = tuple(_once(event, engine.fire_event(one)) for one in work.before())
    real = work.as_it_is()

    def finished(now: Event, decision: Decision) -> Decision:
        whole = _merge_decisions(decision, earlier)
        # The agent is answered in the words of the event that it fired.
        return whole if finish is None else finish(replace(now, kind=event.kind), whole)

    decision = engine.fire_event(real, finished)
    later = tuple(engine.fire_event(one) for one in work.after(real))
    if event.kind.name == "Stop":
        prompt_origin.remember(engine, event, decision, agent)
    if later:
        decision = _merge_decisions(decision, later)
    return _with_outcomes(decision, (*earlier, *later))


def _forgive_continuations(engine: Engine, event: Event) -> None:
    """The first Stop of a turn: how often the agent was sent on before, in a turn that was interrupted, does not count."""
    if event.session and engine.sessions.peek(event.session, event.kind.name).continuations:
        engine.sessions.settle(event.session, mode=None, continuations=0)


def _once(event: Event, decision: Decision) -> Decision:
    """Context at the end of an answer sends some agents on. A hook that always has something to say must not do so for
    ever: it is told once in a turn."""
    if event.kind.name != "Stop" or not decision.context or not event.data.get("continuations"):
        return decision
    why = "what it said was left out: the agent was sent on already in this turn"
    left = tuple(Message(hook=one.hook, text=f"{decision.event}: {why}") for one in decision.context)
    return replace(decision, context=(), ignored=(*decision.ignored, *left))


@dataclass(slots=True, kw_only=True)
class _Work:
    """What is made up at one event. The transcript is read at most once."""

    engine: Engine
    scene: DerivedContext
    agent: Agent
    own: Event

    def before(self) -> Iterator[Event]:
        name = self.own.kind.name
        if name in {"SessionStart", "Stop"} and self._hears("SessionEnd", "RunEnd"):
            yield from self._ends_of_others()
        if name == "SessionStart" and self._hears("RunStart") and not self._inner():
            start = _run_start(self.engine, self.own)
            if start is not None:
                yield start
        if name == "Stop" and self._asks_for("Stop", "AssistantMessage"):
            self._read_turn()
        if name == "Stop" and self._hears("AssistantMessage"):
            data = self.own.data
            message = data.get("assistant_message")
            yield _assistant_message(
                self.engine, self.own, message if isinstance(message, str) else "", data.get("tokens")
            )

    def as_it_is(self) -> Event:
        """The agent's own event, with what is known beyond what it says."""
        name = self.own.kind.name
        if name == "UserPromptSubmit":
            return prompt_origin.mark_origin(self.engine, self.own, self.agent)
        if name == "PostToolUse" and self._hears("PostToolUseFailure"):
            from hookline.gateway.derived.tool_failure import as_failure

            return as_failure(self.own, self.scene, self.agent)
        if name == "PostToolUseFailure" and not self._hears(name) and "event" in self.own.data.get("derived", ()):
            from hookline.gateway.derived.tool_failure import as_fired

            return as_fired(self.own)
        if name == "SessionEnd" and self._hears("SessionEnd", "RunEnd"):
            self._find_session()
            if self._asks_for("SessionEnd", "RunEnd"):
                self._read_session()
        return self.own

    def after(self, real: Event) -> Iterator[Event]:
        if real.kind.name == "SessionEnd" and self._hears("SessionEnd", "RunEnd"):
            from hookline.gateway.derived import open_sessions

            started = open_sessions.close_session(self.scene.state, self.agent.name, real.session)
            if self._hears("RunEnd"):
                yield _run_end(self.engine, real, real.data.get("tokens"), started)

    # ── what is known from elsewhere ─────────────────────────────────────────────────────────────────

    def _hears(self, *names: str) -> bool:
        return any(spec.event in names for spec in self.engine.specs if spec.enabled)

    def _asks_for(self, *names: str) -> bool:
        """Whether somebody hears it who may want to know more. Our own hooks read the transcript when they need it, and
        nobody waits for them."""
        return any(spec.event in names and not is_ours(spec.action) for spec in self.engine.specs if spec.enabled)

    def _inner(self) -> bool:
        """The session of a subagent is part of another one's run."""
        return bool(self.own.data.get("subagent"))

    def _transcript(self) -> str:
        from hookline.transcripts import transcript_path  # few events need it

        return transcript_path(self.agent.name, self.own.data, self.scene.home, self.scene.environ)

    def _read_turn(self) -> None:
        path = self._transcript()
        if path:
            from hookline.gateway.derived.tokens import sum_turn

            tokens, answer = sum_turn(path, self.agent.name)
            self._know(tokens=tokens, assistant_message=answer or None)

    def _read_session(self) -> None:
        path = self._transcript()
        if path:
            from hookline.gateway.derived.tokens import sum_session

            self._know(tokens=sum_session(path, self.agent.name))

    def _find_session(self) -> None:
        """An agent may say that it ends, and not which session ends with it."""
        if self.own.session:
            return
        from hookline.gateway.derived import open_sessions

        session = open_sessions.only_open(self.scene.state, self.agent.name, self.own.cwd, self._owner())
        if session:
            self._know(session_id=session)
            self.own = replace(self.own, session=session)

    def _owner(self) -> Process | None:
        from hookline.core.processes import find_owner  # noqa: PLC0415  few events need it

        return find_owner(self.scene.caller) if self.scene.caller else None

    def _know(self, **found: Any) -> None:
        """What the agent says itself is not replaced."""
        data = self.own.data
        new = {name: value for name, value in found.items() if value is not None and data.get(name) is None}
        if new:
            self.own = replace(self.own, data={**data, **new, "derived": [*data.get("derived", ()), *new]})

    def _ends_of_others(self) -> Iterator[Event]:
        """This session is there; others of the same agent in the same directory may be over without a word."""
        from hookline.gateway.derived import open_sessions

        own, state = self.own, self.scene.state
        if not own.session or self._inner():
            return
        here = open_sessions.Open(
            session=own.session, transcript=self._transcript(), started=own.time, touched=own.time, owner=self._owner()
        )
        if own.kind.name == "SessionStart":
            open_sessions.note(state, self.agent.name, own.cwd, here)
        else:
            open_sessions.touch(state, self.agent.name, here)
        for one in open_sessions.take_abandoned(state, self.agent.name, own.cwd, own.time, own.session):
            end = _session_end(self.engine, own, one.session, one.transcript)
            end = replace(end, data={**end.data, "duration_ms": round(max(0.0, one.touched - one.started) * 1000)})
            yield end
            if self._hears("RunEnd"):
                yield _run_end(self.engine, end, None, one.started)
