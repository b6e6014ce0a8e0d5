from __future__ import annotations

from hookline.core.event import EVENTS
from hookline.core.result import (
    Aborted,
    Conflict,
    Context,
    Decision,
    Failed,
    Injected,
    Message,
    Replied,
    Reply,
    Started,
)
from hookline.engine import fold
from hookline.testing import hook_spec

KIND = EVENTS["PreToolUse"]


def decided(*replies: Reply, data=None, kind=KIND) -> Decision:
    state, outcomes = fold.begin(kind, data or {}), []
    for number, reply in enumerate(replies):
        spec = hook_spec(f"h{number}", after_deny="continue")
        outcomes.append(Replied(id=spec.id, hook=spec.name, reply=reply))
        state = fold.step(state, spec, outcomes[-1])
    return fold.finish(state, outcomes)


def test_what_is_said_is_kept_with_the_name_of_who_said_it_in_order():
    one, two = Context(text="one", label="l"), Context(text="two", placement="comment")
    decision = decided(
        Reply(context=(one,), messages=("hello",), attributes={"final": "true", "x": 1}),
        Reply(context=(two,), messages=("again",), attributes={"x": 2}),
    )
    assert decision.context == (Injected(hook="h0", context=one), Injected(hook="h1", context=two))
    assert decision.messages == (Message(hook="h0", text="hello"), Message(hook="h1", text="again"))
    assert decision.attributes == {"final": "true", "x": 2}


def test_the_last_mode_wins_and_an_empty_one_clears_it():
    assert decided(Reply(attributes={"mode": "plan"}), Reply(attributes={"mode": ""})).attributes == {"mode": ""}
    assert decided(Reply(attributes={"mode": None})).attributes == {"mode": ""}


def test_silence_is_the_plainest_decision():
    decision = decided(Reply(), data={"tool_name": "X"})
    assert decision == Decision(event="PreToolUse", data={"tool_name": "X"}, outcomes=decision.outcomes)


def test_a_whole_object_over_a_leaf_inside_it_is_a_conflict_too():
    decision = decided(
        Reply(data={"tool_input": {"a": {"b": 2}}}),
        Reply(data={"tool_input": {"a": 7}}),
        data={"tool_input": {"a": {"b": 1}}},
    )
    assert decision.data == {"tool_input": {"a": 7}}
    assert decision.conflicts == (Conflict(pointer="tool_input.a", first="h0", second="h1"),)


def test_a_field_that_nobody_documented_may_be_changed():
    decision = decided(Reply(data={"my_own": 1}))
    assert (decision.data, decision.modified) == ({"my_own": 1}, True)


def test_a_change_that_is_taken_back_is_no_modification():
    decision = decided(
        Reply(data={"tool_input": {"a": 2}}), Reply(data={"tool_input": {"a": 1}}), data={"tool_input": {"a": 1}}
    )
    assert not decision.modified


def test_a_reason_of_a_deny_stands_beside_an_abort():
    spec, breaker = hook_spec("no", after_deny="continue"), hook_spec("breaks", on_failure="abort")
    state = fold.step(fold.begin(KIND, {}), spec, Replied(id="", hook="no", reply=Reply(effect="deny", reason="no")))
    state = fold.step(state, breaker, Failed(id="", hook="breaks", error="broke"))
    decision = fold.finish(state, ())
    assert (decision.reason, decision.aborted) == ("no", Aborted(hook="breaks", message="broke"))


def test_amending_puts_the_end_in_the_place_of_the_start():
    spec = hook_spec("slow", on_failure="abort")
    started = Started(id=spec.id, hook="slow")
    decision = fold.finish(fold.step(fold.begin(KIND, {}), spec, started), [started])
    ended = Replied(id=spec.id, hook="slow", reply=Reply(effect="deny", reason="too late"))
    amended = fold.amend(decision, ((spec, ended),))
    assert (amended.effect, amended.outcomes) == ("allow", (ended,))
