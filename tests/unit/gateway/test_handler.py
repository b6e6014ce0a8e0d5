"""An event in, an answer out: what the agent gets, what is recorded, and what happens if something is missing."""

from __future__ import annotations

import json
import threading
from typing import Any

import pytest
from tests.recording import MemoryRecorder

from hookline.core.problem import Problem
from hookline.core.result import Decision
from hookline.core.samples import hook_spec
from hookline.gateway.dedupe import EarlierDecision
from hookline.gateway.dedupe_memory import MemoryDeduper
from hookline.gateway.handler import handle
from hookline.gateway.reply import write_reply
from hookline.state.record import Record

from .conftest import Gate

DENY = {"effect": "deny", "reason": "no"}
MISTAKE = Problem(file="/u/hookline.toml", finding="run is empty", fix="write a command", pointer="$.hook[0]")


def verdict(response: Any) -> str:
    if not response.stdout:
        return "no opinion"
    return str(json.loads(response.stdout)["hookSpecificOutput"]["permissionDecision"])


def test_a_deny_reaches_the_agent_in_its_own_format(gate: Gate) -> None:
    response = handle(gate.ask(), gate.runtime(hook_spec("guard", lambda _event: DENY)), ending=True)
    assert (verdict(response), response.exit_code) == ("deny", 0)
    assert response.decision is not None
    assert (response.decision.effect, response.decision.reason) == ("deny", "no")


def test_without_hooks_there_is_no_opinion(gate: Gate) -> None:
    response = handle(gate.ask(), gate.runtime(), ending=True)
    assert (response.exit_code, response.stdout, response.stderr) == (0, "", "")


class Ordered(MemoryRecorder):
    """A recorder that notes when it was written to."""

    def __init__(self, order: list[str]) -> None:
        super().__init__()
        self._order = order

    def write(self, record: Record) -> None:
        self._order.append("recorded")


def test_the_answer_is_known_before_it_is_recorded(gate: Gate) -> None:
    order: list[str] = []
    gate.recorder = Ordered(order)
    runtime = gate.runtime(hook_spec("guard", lambda _event: DENY))
    handle(gate.ask(), runtime, ending=True, on_answer=lambda _answer: order.append("answered"))
    assert order == ["answered", "recorded"]


# ── guards that could not be loaded ──────────────────────────────────────────────────────────────────


def test_where_the_registration_fails_closed_a_missing_guard_is_a_refusal(gate: Gate) -> None:
    response = handle(gate.ask(fail_closed=True), gate.runtime(problems=[MISTAKE]), ending=True)
    assert verdict(response) == "deny"
    assert "a hook that must not be skipped may be missing" in response.stdout
    assert gate.recorder.records[0].decision.effect == "deny"


def test_elsewhere_a_missing_guard_is_told_and_the_agent_goes_on(gate: Gate) -> None:
    response = handle(gate.ask(), gate.runtime(problems=[MISTAKE]), ending=True)
    assert (verdict(response), response.stderr) == ("no opinion", f"hookline: {MISTAKE}\n")


def test_what_cannot_be_refused_is_not_refused_for_a_missing_guard(gate: Gate) -> None:
    response = handle(gate.ask("PostToolUse", fail_closed=True), gate.runtime(problems=[MISTAKE]), ending=True)
    assert response.decision is not None
    assert response.decision.effect == "allow"


def test_a_guards_own_reason_stays_though_another_guard_is_missing(gate: Gate) -> None:
    runtime = gate.runtime(hook_spec("guard", lambda _event: DENY), problems=[MISTAKE])
    response = handle(gate.ask(fail_closed=True), runtime, ending=True)
    assert response.decision is not None
    assert response.decision.reason == "no"


# ── what the agent cannot do ─────────────────────────────────────────────────────────────────────────


def rewrite(_event: object) -> dict[str, Any]:
    return {"data": {"tool_input": {"command": "safe"}}}


def test_a_question_that_the_agent_cannot_ask_is_refused_and_recorded_as_refused(gate: Gate) -> None:
    runtime = gate.runtime(hook_spec("asker", lambda _event: {"effect": "ask"}, event="Stop"))
    response = handle(gate.ask("Stop"), runtime, ending=True)
    recorded = gate.recorder.records[0].decision
    assert recorded.effect == "deny"
    assert "does not support this, so the call was refused: ask" in recorded.ignored[0].text
    assert response.decision is not None
    assert response.decision.effect == "ask", "another agent may be able to"


def test_a_change_that_the_agent_can_make_is_made(gate: Gate) -> None:
    response = handle(gate.ask(), gate.runtime(hook_spec("rewriter", rewrite)), ending=True)
    assert json.loads(response.stdout)["hookSpecificOutput"]["updatedInput"] == {"command": "safe"}


# ── one event through two registrations ──────────────────────────────────────────────────────────────


class Counting:
    """A guard that counts how often it was asked."""

    def __init__(self) -> None:
        self.calls = 0

    def __call__(self, _event: object) -> dict[str, str]:
        self.calls += 1
        return DENY


def test_hooks_of_one_event_run_once_and_both_registrations_get_the_decision(gate: Gate) -> None:
    guard, deduper = Counting(), MemoryDeduper()
    runtime = gate.runtime(hook_spec("guard", guard))
    for registration in ("user/claude-code", "project/claude-code"):
        request = gate.ask(registration=registration)
        assert verdict(handle(request, runtime, ending=True, deduper=deduper)) == "deny"
    assert guard.calls == 1
    assert len(gate.recorder.records) == 1


def test_two_equal_calls_through_one_registration_are_two_events(gate: Gate) -> None:
    guard, deduper = Counting(), MemoryDeduper()
    runtime = gate.runtime(hook_spec("guard", guard))
    for _ in range(2):
        handle(gate.ask(registration="user/claude-code"), runtime, ending=True, deduper=deduper)
    assert guard.calls == 2


def test_a_line_that_a_person_wrote_by_hand_is_not_deduplicated(gate: Gate) -> None:
    guard, deduper = Counting(), MemoryDeduper()
    runtime = gate.runtime(hook_spec("guard", guard))
    for _ in range(2):
        handle(gate.ask(), runtime, ending=True, deduper=deduper)
    assert (guard.calls, len(deduper)) == (2, 0)


class Leaving:
    """A deduper whose turn notes how it was left."""

    earlier: EarlierDecision | None = None

    def __init__(self) -> None:
        self.events: list[str] = []

    def enter(self, key: Any, registration: str, until: float) -> Leaving:
        self.events.append(f"enter {registration}")
        return self

    def keep(self, event: object, decision: Decision) -> None:
        self.events.append(f"keep {decision.effect}")

    def leave(self) -> None:
        self.events.append("leave")


def fails(*_args: object, **_options: object) -> Any:
    raise RuntimeError("ours")


def test_a_turn_is_left_also_when_hookline_itself_fails(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    deduper, runtime = Leaving(), gate.runtime(hook_spec("guard", lambda _event: DENY))
    monkeypatch.setattr("hookline.engine.fold.begin", fails)

    with pytest.raises(RuntimeError, match="ours"):
        handle(gate.ask(registration="r"), runtime, ending=True, deduper=deduper)
    assert deduper.events == ["enter r", "leave"]


def test_what_fails_after_the_decision_is_a_notice_and_no_other_answer(gate: Gate) -> None:
    runtime = gate.runtime(hook_spec("guard", lambda _event: DENY))
    response = handle(gate.ask(), runtime, ending=True, on_answer=fails)
    assert verdict(response) == "deny"
    assert "ours" in response.stderr


def test_an_answer_that_cannot_be_written_whole_keeps_its_effect(gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    runtime = gate.runtime(hook_spec("guard", lambda _event: {**DENY, "context": "why"}))
    written = write_reply

    def fails_with_context(dialect: Any, event: Any, decision: Decision) -> Any:
        return fails() if decision.context else written(dialect, event, decision)

    monkeypatch.setattr("hookline.gateway.handler.write_reply", fails_with_context)
    response = handle(gate.ask(), runtime, ending=True)
    assert verdict(response) == "deny"
    assert response.decision is not None
    assert "could not be written" in response.decision.ignored[0].text


def test_a_turn_keeps_the_decision_before_it_is_left(gate: Gate) -> None:
    deduper, runtime = Leaving(), gate.runtime(hook_spec("guard", lambda _event: DENY))
    handle(gate.ask(registration="r"), runtime, ending=True, deduper=deduper)
    assert deduper.events == ["enter r", "keep deny", "leave"]


# ── hooks in the background ──────────────────────────────────────────────────────────────────────────


def test_a_process_that_ends_waits_for_hooks_in_the_background(gate: Gate) -> None:
    done: list[int] = []
    runtime = gate.runtime(hook_spec("later", lambda _event: done.append(1), mode="background"))
    response = handle(gate.ask(), runtime, ending=True)
    assert (done, response.unfinished) == ([1], False)


def test_a_process_that_stays_leaves_them_to_somebody_else(gate: Gate) -> None:
    go = threading.Event()
    runtime = gate.runtime(hook_spec("later", lambda _event: go.wait(60) and None, mode="background"))
    response = handle(gate.ask(), runtime, ending=False)
    go.set()
    runtime.engine.join(None)
    assert response.unfinished


def test_a_failure_in_the_background_that_aborts_changes_the_answer(gate: Gate) -> None:
    def fails(_event: object) -> None:
        raise ValueError("broken")

    runtime = gate.runtime(hook_spec("later", fails, mode="background", on_failure="abort"))
    response = handle(gate.ask(), runtime, ending=False)
    assert verdict(response) == "deny"
