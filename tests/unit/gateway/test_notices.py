"""What a person is told besides the answer."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.core._dataclass import replace
from hookline.core.loaded import SourceFile, Unapproved
from hookline.core.problem import Problem
from hookline.core.result import Decision, Failed, Skipped
from hookline.gateway.notices import (
    SessionNotice,
    approval_lines,
    find_unloaded_guards,
    problem_lines,
    trust_lines,
)
from hookline.state.trust import Approval

from .conftest import Gate

ERROR = Problem(file="/u/hookline.toml", finding="run is empty", fix="write a command", line=3, pointer="$.hook[0].run")
WARNING = Problem(file="/u/hookline.toml", finding="odd", fix="leave it out", severity="warning")
GONE = Approval(name="guard", event="PreToolUse", file="/p/hookline.toml", pointer="$.hook[0]", definition="d")


def test_an_error_is_told_with_its_place_and_fix_and_a_warning_is_not(gate: Gate) -> None:
    lines = list(problem_lines(gate.runtime(problems=[ERROR, WARNING])))
    assert lines == ["/u/hookline.toml:3: $.hook[0].run: run is empty; write a command"]


def test_a_trusted_hook_that_is_gone_is_told(gate: Gate) -> None:
    assert list(problem_lines(gate.runtime(missing=[GONE]))) == [
        "/p/hookline.toml: the trusted hook 'guard' is missing; review it with: hookline trust"
    ]


def test_hooks_that_need_trust_are_told_and_other_skips_are_not() -> None:
    outcomes = (
        Skipped(id="1", hook="new", error="not trusted yet", not_run="untrusted"),
        Failed(id="2", hook="edited", error="changed since", not_run="changed"),
        Skipped(id="3", hook="gated", error="already ran", not_run="claim"),
        Failed(id="4", hook="broken", error="exit code 1"),
    )
    decision = Decision(event="PreToolUse", outcomes=outcomes)
    assert list(trust_lines(decision)) == ["new: not trusted yet", "edited: changed since"]


@pytest.mark.parametrize(
    ("pointer", "counts"),
    [("$", True), ("$.hook[2]", True), ("$.hooks.session_start", True), ("$.source[0]", True), ("$.record", False)],
)
def test_only_mistakes_that_can_hide_a_guard_count(gate: Gate, pointer: str, counts: bool) -> None:
    problem = Problem(file="/u/hookline.toml", finding="x", fix="y", pointer=pointer)
    assert list(find_unloaded_guards(gate.runtime(problems=[problem]), "PreToolUse")) == ([problem] if counts else [])


def test_a_warning_hides_no_guard(gate: Gate) -> None:
    assert list(find_unloaded_guards(gate.runtime(problems=[WARNING]), "PreToolUse")) == []


@pytest.mark.parametrize("layer", ["project", "local"])
def test_a_repositorys_mistakes_do_not_lock_its_reader_out(gate: Gate, layer: str) -> None:
    source = SourceFile(path="/p/hookline.toml", layer=layer, dialect="native", found=True)
    problem = Problem(file="/p/hookline.toml", finding="x", fix="y")
    assert list(find_unloaded_guards(gate.runtime(problems=[problem], sources=[source]), "PreToolUse")) == []


@pytest.mark.parametrize(
    ("table", "counts"),
    [
        ('on = "PreToolUse"', True),
        ('on = "PreToolUs"', True),
        ('on = ["Stop", "PreToolUse"]', True),
        ('on = "Stop"', False),
        ('on = ["Stop", "PostToolUse"]', False),
        ("on = 1", True),
        ("[[hook", True),
    ],
)
def test_a_hook_of_another_event_is_not_missed_as_a_guard(gate: Gate, tmp_path: Path, table: str, counts: bool) -> None:
    file = tmp_path / "hookline.toml"
    file.write_text(f"[[hook]]\n{table}\n")
    problem = Problem(file=str(file), severity="error", pointer="$.hook[0].match", finding="bad", fix="mend it")
    assert list(find_unloaded_guards(gate.runtime(problems=[problem]), "PreToolUse")) == ([problem] if counts else [])


@pytest.mark.parametrize(
    ("one", "text"),
    [
        (Unapproved(file="/p/a"), "not approved, so nothing of it has any effect"),
        (Unapproved(file="/p/a", hooks=("b", "c")), "not approved, so the hooks b, c have no effect"),
        (Unapproved(file="/p/a", hooks=("b",)), "not approved, so the hook b has no effect"),
        (Unapproved(file="/p/a", settings=True), "not approved, so its settings and sources have no effect"),
    ],
)
def test_what_is_not_approved_is_named_with_the_command(gate: Gate, one: Unapproved, text: str) -> None:
    runtime = replace(gate.runtime(), unapproved=(one,), review="hookline trust --dialect lectic")
    assert approval_lines(runtime) == [f"/p/a: {text}; review it with: hookline trust --dialect lectic"]


def test_a_session_sees_it_once_and_again_where_something_else_is_not_approved(gate: Gate) -> None:
    runtime = replace(gate.runtime(), unapproved=(Unapproved(file="/p/a"),))
    event = runtime.engine.event("PreToolUse", {}, session="s")
    decision = Decision(event="PreToolUse")
    notice = SessionNotice(runtime, event, decision)
    assert [notice.is_new(), notice.claim(), notice.is_new(), notice.claim()] == [True, True, False, False]
    more = replace(runtime, unapproved=(Unapproved(file="/p/a"), Unapproved(file="/p/b")))
    assert SessionNotice(more, event, decision).claim()
    assert notice.add_to(decision).message_text == f"hookline: {notice.lines[0]}"
