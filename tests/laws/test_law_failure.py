"""Law 3: a failure is told apart from a deny, and means what ``on_failure`` says."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline import Engine
from hookline.core.event import EVENTS
from hookline.core.result import Aborted, Failed, Replied, RunResult, Skipped, TimedOut
from hookline.engine import fold
from hookline.testing import FakeCrew, hook_spec

KIND = EVENTS["PreToolUse"]
FAILURES = st.sampled_from([Failed, TimedOut])
RAWS = {"crash": RunResult(error="crashed"), "late": RunResult(timed_out=True)}


def fire(raw: RunResult, **policy):
    engine = Engine(specs=(hook_spec("guard", **policy), hook_spec("next")), crew=FakeCrew({"guard": raw}))
    return engine.fire_sync("PreToolUse", tool_name="X", tool_input={})


@pytest.mark.parametrize(("how", "kind"), [("crash", Failed), ("late", TimedOut)])
def test_an_ignored_failure_changes_nothing_but_is_in_the_outcomes(how, kind):
    decision = fire(RAWS[how], on_failure="ignore")
    assert (decision.effect, decision.granted, decision.reason) == ("allow", False, "")
    assert [type(outcome) for outcome in decision.outcomes] == [kind, Replied]
    assert decision.outcomes[0].error


@pytest.mark.parametrize(("how", "kind"), [("crash", Failed), ("late", TimedOut)])
def test_a_failure_that_denies_says_that_it_was_a_failure(how, kind):
    decision = fire(RAWS[how], on_failure="deny")
    assert decision.effect == "deny"
    assert decision.reason.startswith("hook failed: ")
    assert decision.aborted is None
    assert [type(outcome) for outcome in decision.outcomes] == [kind, Skipped]
    assert decision.messages[0].hook == "guard"


@pytest.mark.parametrize(("how", "kind"), [("crash", Failed), ("late", TimedOut)])
def test_a_failure_that_aborts_ends_the_run_and_reads_as_a_deny(how, kind):
    decision = fire(RAWS[how], on_failure="abort")
    assert decision.effect == "deny"
    assert decision.aborted == Aborted(hook="guard", message=decision.outcomes[0].error)
    assert [type(outcome) for outcome in decision.outcomes] == [kind, Skipped]


@given(FAILURES, st.text(min_size=1), st.sampled_from(["ignore", "deny", "abort"]))
def test_a_failure_means_what_on_failure_says_and_nothing_else(failure, error, on_failure):
    spec = hook_spec("hook", on_failure=on_failure)
    outcome = failure(id=spec.id, hook=spec.name, error=error)
    decision = fold.finish(fold.step(fold.begin(KIND, {}), spec, outcome), [outcome])
    assert decision.effect == ("allow" if on_failure == "ignore" else "deny")
    assert (decision.aborted is not None) == (on_failure == "abort")
    assert decision.outcomes == (outcome,)
    assert not decision.granted


@given(FAILURES, st.sampled_from([kind for kind in EVENTS.values() if not kind.deniable]))
def test_a_failure_cannot_deny_what_has_happened_but_it_is_noted(failure, kind):
    spec = hook_spec("hook", event=kind.name, on_failure="deny")
    outcome = failure(id=spec.id, hook="hook", error="broke")
    decision = fold.finish(fold.step(fold.begin(kind, {}), spec, outcome), [outcome])
    assert decision.effect == "allow"
    assert decision.ignored


@given(FAILURES, FAILURES)
def test_the_first_hook_to_abort_is_the_one_that_is_named(one, other):
    first, second = hook_spec("first", on_failure="abort"), hook_spec("second", on_failure="abort")
    state = fold.step(fold.begin(KIND, {}), first, one(id=first.id, hook="first", error="one"))
    decision = fold.finish(fold.step(state, second, other(id=second.id, hook="second", error="two")), ())
    assert decision.aborted == Aborted(hook="first", message="one")


def test_what_a_failed_hook_decided_does_not_count():
    raw = RunResult(
        error="crashed afterwards", value={"effect": "allow", "message": "hello", "data": {"tool_input": {"x": 1}}}
    )
    decision = fire(raw, on_failure="ignore")
    assert (decision.granted, decision.modified) == (False, False)
