from __future__ import annotations

import asyncio

import pytest

from hookline.core.hook import Command
from hookline.core.result import Context, Failed, HookError, Replied, Reply, RunResult, Started, TimedOut
from hookline.core.settings import Settings
from hookline.engine.executor import Executor, Task, make_outcome
from hookline.runners import RunnerPool
from hookline.testing import FakeCrew, event, hook_spec

SPEC = hook_spec("hook", timeout=3)
DENY = Reply(effect="deny", reason="no")
TEXT = Reply(effect="allow", context=(Context(text="seen"),))


def performer(scripts=None) -> Executor:
    return Executor(crew=FakeCrew(scripts), settings=Settings())


@pytest.mark.parametrize(
    ("raw", "verdict", "kind", "error"),
    [
        (RunResult(), DENY, Replied, ""),
        (RunResult(timed_out=True), DENY, TimedOut, "timed out after 3 s"),
        (RunResult(error="crashed"), DENY, Failed, "crashed"),
        (RunResult(exit_code=1), HookError(error="exit code 1"), Failed, "exit code 1"),
        (RunResult(timed_out=True, error="deaf"), HookError(error="x"), TimedOut, "deaf"),
    ],
)
def test_what_was_seen_and_understood_is_one_of_the_things_that_can_have_happened(raw, verdict, kind, error):
    outcome = make_outcome(SPEC, raw, verdict, 1.5, SPEC.timeout)
    assert (type(outcome), outcome.error, outcome.ms, outcome.raw) == (kind, error, 1.5, raw)


@pytest.mark.parametrize("raw", [RunResult(timed_out=True), RunResult(error="crashed")])
def test_of_a_hook_that_failed_only_what_it_said_to_the_model_is_kept(raw):
    assert make_outcome(SPEC, raw, DENY, 0).reply is None
    assert make_outcome(SPEC, raw, TEXT, 0).reply == TEXT
    assert make_outcome(SPEC, RunResult(), HookError(error="e", reply=TEXT), 0).reply == TEXT


def test_a_bug_of_a_dialect_or_a_runner_is_a_failure_at_both_doors():
    spec = hook_spec("hook", dialect="nobody")
    task = Task(spec=spec, event=event("PreToolUse"))
    for outcome in (performer().perform(task), asyncio.run(performer().perform_async(task))):
        assert isinstance(outcome, Failed)
        assert "nobody" in outcome.error


def test_a_hook_that_is_let_go_of_and_cannot_start_has_failed():
    spec = hook_spec("gone", mode="detached", action=Command(form="argv", argv=("/nowhere/at/all",)))
    outcome = Executor(crew=RunnerPool(), settings=Settings()).perform(
        Task(spec=spec, event=event("PreToolUse", cwd="/"))
    )
    assert isinstance(outcome, Failed)


def test_a_detached_hook_that_cannot_start_says_so_in_the_words_of_its_dialect():
    action = Command(form="words", text="nowhere-at-all")
    spec = hook_spec("gone", dialect="lectic", event="UserPromptSubmit", mode="detached", action=action)
    there = event("UserPromptSubmit", cwd="/")
    outcome = Executor(crew=RunnerPool(), settings=Settings()).perform(Task(spec=spec, event=there))
    assert outcome.error.startswith('Hook "nowhere-at-all" failed to start for user_message: ')


@pytest.mark.parametrize("timeout", [2**31, 1e18, float("inf")])
def test_a_limit_beyond_what_clocks_count_is_a_long_limit_and_no_failure(timeout):
    spec = hook_spec("patient", timeout=timeout, action=Command(form="argv", argv=("/bin/sh", "-c", "exit 2")))
    task = Task(spec=spec, event=event("PreToolUse", cwd="/"))
    performer = Executor(crew=RunnerPool(), settings=Settings())
    for outcome in (performer.perform(task), asyncio.run(performer.perform_async(task))):
        assert outcome.raw is not None
        assert (type(outcome), outcome.raw.exit_code) == (Replied, 2)


@pytest.mark.parametrize("mode", ["detached", "background", "apply-later"])
def test_a_hook_that_runs_on_its_own_is_started_at_both_doors(mode):
    task = Task(spec=hook_spec("own", mode=mode), event=event("PreToolUse"))
    assert isinstance(performer().perform(task, lambda _task, outcome: outcome), Started)
    assert isinstance(asyncio.run(performer().perform_async(task, lambda _task, outcome: outcome)), Started)


def test_joining_one_session_leaves_the_hooks_of_another():
    one = performer()
    for session in ("a", "b"):
        happening = event("PreToolUse", session_id=session)
        one.perform(Task(spec=hook_spec("own", mode="background"), event=happening))
    assert [task.event.session for task, _ in one.join("a")] == ["a"]
    assert [task.event.session for task, _ in one.join()] == ["b"]


def test_closing_closes_the_crew():
    crew = FakeCrew()
    Executor(crew=crew, settings=Settings()).close()
    assert crew.runner.closed
