"""For whom no hook runs: a variable alone is never enough."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from hookline.core.samples import hook_spec
from hookline.gateway import bypass, probe
from hookline.gateway.args import BYPASS_VARIABLES
from hookline.gateway.bypass import MOST_NESTED, why_too_deep
from hookline.gateway.handler import handle
from hookline.runners.environ import DEPTH_VARIABLE, hook_depth, next_depth

from .conftest import Gate

DENY = {"effect": "deny", "reason": "the guard spoke"}


def answer(gate: Gate, event: str = "PreToolUse", **request: Any) -> Any:
    """With a guard that refuses everything: whoever is bypassed does not hear it."""
    guard = hook_spec("guard", lambda _event: DENY, event=event)
    return handle(gate.ask(event, **request), gate.runtime(guard), ending=True)


def test_without_a_variable_nobody_is_bypassed(gate: Gate) -> None:
    assert "the guard spoke" in answer(gate).stdout


@pytest.mark.parametrize("variable", sorted(BYPASS_VARIABLES))
@pytest.mark.parametrize("value", ["", "1", "0" * 32, "../../x", "a" * 31])
def test_a_variable_alone_switches_no_guard_off(gate: Gate, variable: str, value: str) -> None:
    assert "the guard spoke" in answer(gate, environ={variable: value}).stdout


def test_a_probe_is_answered_by_its_name_and_runs_no_hook(gate: Gate) -> None:
    name = probe.ask(gate.state)
    said = answer(gate, environ={probe.PROBE: name}).stdout
    assert f"hookline doctor asks: {name}" in said
    assert "the guard spoke" not in said
    found = probe.read_answer(gate.state, name)
    assert found is not None
    assert (found["event"], found["agent"], found["pid"]) == ("PreToolUse", "claude-code", os.getpid())
    assert found["hooks"] == [{"hook": "guard", "why_not": None}]


def test_a_probe_serves_once(gate: Gate) -> None:
    name = probe.ask(gate.state)
    answer(gate, environ={probe.PROBE: name})
    assert "the guard spoke" in answer(gate, environ={probe.PROBE: name}).stdout


def test_a_probe_where_nothing_can_be_refused_is_answered_with_no_opinion(gate: Gate) -> None:
    response = answer(gate, "PostToolUse", environ={probe.PROBE: probe.ask(gate.state)})
    assert (response.exit_code, response.stdout, response.decision) == (0, "", None)


def test_our_own_model_is_bypassed_while_its_lock_is_held_and_not_a_moment_longer(gate: Gate) -> None:
    with bypass.mark_own_model(gate.state) as marks:
        assert answer(gate, "Stop", environ=marks).stdout == ""
    assert "the guard spoke" in answer(gate, "Stop", environ=marks).stdout


@pytest.mark.parametrize("event", ["PreToolUse", "PermissionRequest"])
def test_our_own_model_may_use_no_tool(gate: Gate, event: str) -> None:
    with bypass.mark_own_model(gate.state) as marks:
        said = answer(gate, event, environ=marks).stdout
    assert "no tool is needed" in said
    assert "deny" in said


def test_the_lock_of_another_state_directory_does_not_count(gate: Gate, tmp_path: Path) -> None:
    with bypass.mark_own_model(str(tmp_path / "other")) as marks:
        assert "the guard spoke" in answer(gate, environ=marks).stdout


def test_marks_are_gone_afterwards_and_those_of_killed_workers_are_swept(gate: Gate) -> None:
    folder = Path(bypass.own_model_directory(gate.state))
    with bypass.mark_own_model(gate.state):
        (folder / ("0" * 32)).touch()
    with bypass.mark_own_model(gate.state) as marks:
        assert [path.name for path in folder.iterdir()] == [marks[bypass.OWN_MODEL]]
    assert list(folder.iterdir()) == []


@pytest.mark.parametrize(
    ("cwd", "prompt", "expected"),
    [
        ("", "", False),
        ("/work", "do it", False),
        ("/work", f"  {bypass.PREFACE} More", True),
        ("STATE/distilling", "do it", True),
    ],
)
def test_our_own_sessions_are_known_by_directory_or_first_prompt(
    gate: Gate, cwd: str, prompt: str, expected: bool
) -> None:
    place = cwd.replace("STATE", gate.state)
    assert bypass.is_own_session(state=gate.state, cwd=place, prompt=prompt) is expected


DEEP = {DEPTH_VARIABLE: str(MOST_NESTED + 1)}


def test_a_hook_that_calls_itself_too_often_is_refused_and_told_why(gate: Gate) -> None:
    response = answer(gate, environ=DEEP)
    assert json.loads(response.stdout)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "called from inside its own hooks" in response.stderr
    assert "the guard spoke" not in response.stdout


def test_as_deep_as_allowed_hooks_run(gate: Gate) -> None:
    assert "the guard spoke" in answer(gate, environ={DEPTH_VARIABLE: str(MOST_NESTED)}).stdout


def test_too_deep_a_stop_is_not_refused_since_that_would_never_end(gate: Gate) -> None:
    response = answer(gate, "Stop", environ=DEEP)
    assert response.stdout == ""
    assert "called from inside its own hooks" in response.stderr


def test_too_deep_a_stop_is_refused_where_the_registration_fails_closed(gate: Gate) -> None:
    assert "block" in answer(gate, "Stop", environ=DEEP, fail_closed=True).stdout


def test_whoever_is_bypassed_is_not_recorded(gate: Gate) -> None:
    answer(gate, environ=DEEP)
    assert gate.recorder.records == []


def test_a_depth_counts_up_to_a_refusal_and_junk_counts_as_none() -> None:
    assert next_depth({}) == "1"
    assert why_too_deep({DEPTH_VARIABLE: str(MOST_NESTED)}) == ""
    assert DEPTH_VARIABLE in why_too_deep({DEPTH_VARIABLE: str(MOST_NESTED + 1)})
    assert {hook_depth({DEPTH_VARIABLE: junk}) for junk in ("", "-9", "x", "9" * 5000, "²")} == {0}
