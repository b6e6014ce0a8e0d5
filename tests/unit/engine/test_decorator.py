from __future__ import annotations

import pytest

from hookline import Engine, UsageError, hook
from hookline.core.hook import Gates, Pattern


@hook("PreToolUse", match="Bash", on_failure="deny", order=3, gates=Gates(min_turn=2))
def guard(event):
    return {"effect": "deny"} if event.data.get("bad") else None


def test_the_function_is_left_as_it_is_and_carries_its_spec():
    assert getattr(guard, "__name__", "") == "guard"
    assert guard.spec.name == "guard"
    assert guard.spec.matcher.subject == Pattern(style="full", text="Bash")
    assert (guard.spec.on_failure, guard.spec.order, guard.spec.gates) == ("deny", 3, Gates(min_turn=2))
    assert guard.spec.origin.file.endswith("test_decorator.py")
    assert guard.spec.origin.line > 0


def test_the_flow_of_the_event_is_the_default():
    assert hook("PostToolUse")(lambda _event: None).spec.flow == "parallel"
    assert hook("PostToolUse", flow="chain")(lambda _event: None).spec.flow == "chain"


def test_two_hooks_of_one_name_have_two_ids():
    one = hook("Stop")(lambda _event: None)
    other = hook("Stop")(lambda _event: None)
    assert one.spec.id != other.spec.id


def test_a_misspelt_event_is_refused_at_once_but_one_that_is_carried_is_not():
    with pytest.raises(UsageError, match="PreToolUze"):
        hook("PreToolUze")
    assert hook("gemini:Odd")(lambda _event: None).spec.event == "gemini:Odd"


def test_it_runs():
    @hook("PreToolUse", match="Bash", name="no")
    def refuse(_event):
        return {"effect": "deny", "reason": "no"}

    decision = Engine(specs=(refuse.spec,)).fire_sync("PreToolUse", tool_name="Bash")
    assert (decision.effect, decision.outcomes[0].hook) == ("deny", "no")


def test_a_decorated_function_may_stand_for_its_spec():
    @hook("Stop")
    def never(event):
        return {"effect": "deny", "reason": event.kind.name}

    assert Engine(specs=[never]).fire_sync("Stop").reason == "Stop"  # type: ignore[list-item]  # as people write it
