"""Answers that come after the decision: recorded always, applied only while they are current."""

from __future__ import annotations

from typing import Any

from hookline.core.event import Event
from hookline.core.result import Failed, Replied, Reply
from hookline.core.samples import event, hook_spec
from hookline.engine.executor import Task, record_late
from hookline.state.sessions import MemorySessions


class Amending:
    """A recorder that notes what was amended."""

    note = ""

    def __init__(self) -> None:
        self.amended: list[tuple[str, str]] = []

    def write(self, record: object) -> None: ...

    def amend(self, event_id: str, outcome: Any, *, aborts: bool = False) -> None:
        self.amended.append((event_id, outcome.error))

    def mark(self, event_id: str, text: str) -> None: ...

    def close(self) -> None: ...


def counted(sessions: MemorySessions) -> Event:
    """An event that its session has counted once."""
    sessions.begin("session-1", "PreToolUse", typed=False)
    return event("PreToolUse")


def late(sessions: MemorySessions, task: Task, outcome: Any) -> tuple[Any, Any, Amending]:
    recorder = Amending()
    return (*record_late(task, outcome, sessions, recorder), recorder)


def replied(spec: Any, **reply: Any) -> Replied:
    return Replied(id=spec.id, hook=spec.name, reply=Reply(**reply))


def test_a_current_answer_is_recorded_and_applied() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    outcome, applied, recorder = late(sessions, task, replied(spec, data={"x": 1}))
    assert (outcome.error, recorder.amended) == ("", [("event-1", "")])
    assert applied is not None
    assert (applied.hook, applied.data) == ("later", {"x": 1})


def test_a_stale_answer_is_recorded_as_dropped_and_not_applied() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    sessions.begin("session-1", "PreToolUse", typed=False)
    outcome, applied, recorder = late(sessions, task, replied(spec, data={"x": 1}))
    assert (outcome.error, applied) == ("stale result dropped", None)
    assert recorder.amended == [("event-1", "stale result dropped")]


def test_a_stale_answer_does_not_set_the_mode() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    sessions.begin("session-1", "PreToolUse", typed=False)
    late(sessions, task, replied(spec, attributes={"mode": "plan"}))
    assert sessions.peek("session-1", "PreToolUse").mode == ""


def test_a_current_answer_may_set_the_mode() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    late(sessions, task, replied(spec, attributes={"mode": "plan"}))
    assert sessions.peek("session-1", "PreToolUse").mode == "plan"


def test_a_late_deny_is_recorded_as_ignored() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    outcome, applied, recorder = late(sessions, task, replied(spec, effect="deny", attributes={"mode": "plan"}))
    assert (outcome.reply.effect, recorder.amended) == (None, [("event-1", "deny ignored (async_apply)")])
    assert (dict(applied.data), sessions.peek("session-1", "PreToolUse").mode) == ({}, "plan")


def test_a_deny_that_is_also_stale_is_recorded_as_ignored_and_sets_no_mode() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    sessions.begin("session-1", "PreToolUse", typed=False)
    _, applied, recorder = late(sessions, task, replied(spec, effect="deny", attributes={"mode": "plan"}))
    assert (applied, recorder.amended) == (None, [("event-1", "deny ignored (async_apply)")])
    assert sessions.peek("session-1", "PreToolUse").mode == ""


def test_a_late_failure_is_recorded_and_applies_nothing() -> None:
    sessions, spec = MemorySessions(), hook_spec("later")
    task = Task(spec=spec, event=counted(sessions))
    outcome, applied, recorder = late(sessions, task, Failed(id=spec.id, hook="later", error="exit code 1"))
    assert (type(outcome), applied, recorder.amended) == (Failed, None, [("event-1", "exit code 1")])
