from __future__ import annotations

import os
from dataclasses import replace
from typing import Any

import pytest

from hookline.core.event import event_kind
from hookline.core.hook import FieldTest, Gates, Matcher, Pattern, Scope
from hookline.core.session_facts import Facts
from hookline.core.tool_names import canonical, matching_names
from hookline.engine.match import Index, as_text, batches, gate, lookup, subject_names
from hookline.testing import event, hook_spec


def chosen(matcher: Matcher, name: str = "PreToolUse", scope: Scope | None = None, **data) -> bool:
    spec = hook_spec("hook", event=name, matcher=matcher, scope=scope or Scope())
    return bool(Index([spec]).select(event(name, **data), Facts()).chosen)


def subject(style, text="", options=(), **more) -> Matcher:
    return Matcher(subject=Pattern(style=style, text=text, options=options, **more))


@pytest.mark.parametrize(
    ("matcher", "tool", "fits"),
    [
        (subject("any"), "Bash", True),
        (subject("full", "Bash"), "Bash", True),
        (subject("full", "Bash"), "BashOutput", False),
        (subject("full", "Edit|Write"), "Write", True),
        (subject("full", "mcp__.*"), "mcp__a__b", True),
        (subject("full", ""), "Bash", False),
        (subject("search", "ash"), "Bash", True),
        (subject("search", "^ash"), "Bash", False),
        (subject("exact", options=("Bash", "Read")), "Read", True),
        (subject("exact", options=("Ba.h",)), "Bash", False),
        (subject("glob", "mcp__*"), "mcp__a__b", True),
        (subject("glob", "mcp__*"), "xmcp__a", False),
    ],
)
def test_a_pattern_is_tried_on_the_subject_in_its_own_style(matcher, tool, fits):
    assert chosen(matcher, tool_name=tool) is fits


@pytest.mark.parametrize("style", ["full", "search", "exact", "glob"])
@pytest.mark.parametrize("when_missing", [True, False])
def test_without_a_subject_a_pattern_says_what_it_was_told_to_say(style, when_missing):
    matcher = subject(style, "x", options=("x",), when_missing=when_missing)
    assert chosen(matcher, tool_name=None) is when_missing
    assert chosen(matcher, "Interrupt") is when_missing


@pytest.mark.parametrize("asked", ["Edit", "Write", "apply_patch"])
def test_apply_patch_answers_to_edit_and_write_and_its_own_name(asked):
    assert chosen(subject("full", asked), tool_name="apply_patch")
    assert chosen(subject("full", asked), tool_name="Edit", native_tool_name="apply_patch")


@pytest.mark.parametrize("asked", ["Bash", "run_shell_command"])
def test_a_matcher_is_tried_on_the_canonical_and_on_the_native_name(asked):
    assert chosen(subject("exact", options=(asked,)), tool_name="Bash", native_tool_name="run_shell_command")


def test_a_tool_goes_by_every_name_once_canonical_first():
    assert matching_names("Bash", "run_shell_command") == ("Bash", "run_shell_command")
    assert matching_names("Edit", "apply_patch") == ("Edit", "apply_patch", "Write")
    assert canonical("nobody_knows") == "nobody_knows"


def test_a_tool_scope_hears_only_its_tool_by_any_of_its_names():
    scope = Scope(kind="tool", name="shell")
    assert chosen(Matcher(), scope=scope, tool_name="Bash", native_tool_name="shell")
    assert not chosen(Matcher(), scope=scope, tool_name="Bash")


@pytest.mark.parametrize(
    ("active", "default", "fits"),
    [("Ada", False, True), ("Bob", True, False), (None, True, True), (None, False, False)],
)
def test_an_interlocutor_hears_its_own_events_and_the_default_one_the_nameless(active, default, fits):
    scope = Scope(kind="interlocutor", name="Ada", default=default)
    assert chosen(Matcher(), scope=scope, interlocutor=active) is fits


@pytest.mark.parametrize(
    ("test", "fits"),
    [
        (FieldTest(path="tool_input.command", pattern=Pattern(style="search", text="rm -rf")), True),
        (FieldTest(path="tool_input.command", pattern=Pattern(style="search", text="^rm$")), False),
        (FieldTest(path="tool_input.gone", pattern=Pattern(style="search", text="x")), False),
        (FieldTest(path="tool_input.gone", pattern=Pattern(style="search", text="x"), negate=True), True),
        (FieldTest(path="tool_input.n", equals=3), True),
        (FieldTest(path="tool_input.n", equals=4), False),
        (FieldTest(path="tool_input.gone", equals=None), False),
        (FieldTest(path="tool_input.n", equals=4, negate=True), True),
        (FieldTest(path="tool_input.list.1", equals="b"), True),
        (FieldTest(path="tool_input.list.9", equals="b"), False),
        (FieldTest(path="tool_input.flag", pattern=Pattern(style="full", text="true")), True),
        (FieldTest(path="tool_name", pattern=Pattern(style="full", text="shell")), True),
    ],
)
def test_a_field_of_the_data_is_tested(test, fits):
    tool_input = {"command": "rm -rf x", "n": 3, "list": ["a", "b"], "flag": True}
    happening: dict[str, Any] = {"tool_name": "Bash", "native_tool_name": "shell", "tool_input": tool_input}
    assert chosen(Matcher(fields=(test,)), **happening) is fits


@pytest.mark.parametrize(
    ("gates", "changes", "facts", "passes"),
    [
        (Gates(), {}, {}, True),
        (Gates(agent=("claude",)), {"agent": "claude-code"}, {}, True),
        (Gates(agent=("claude-code",)), {"agent": "claude"}, {}, True),
        (Gates(agent=("codex",)), {"agent": "claude-code"}, {}, False),
        (Gates(cwd=("/work/*",)), {"cwd": "/work/project"}, {}, True),
        (Gates(cwd=("/home/*",)), {"cwd": "/work/project"}, {}, False),
        (Gates(cwd=("/work/**",)), {"cwd": "/work"}, {}, True),
        (Gates(cwd=("/work/**",)), {"cwd": "/workshop"}, {}, False),
        (Gates(cwd=("~/work/**",)), {"cwd": os.path.expanduser("~/work/a/b")}, {}, True),
        (Gates(cwd=("~/work/**",)), {"cwd": "/work/a"}, {}, False),
        (Gates(role="Admin"), {"role": "admin"}, {}, True),
        (Gates(role="admin"), {"role": "user"}, {}, False),
        (Gates(typed_only=True), {"data": {"auto_submit": True}}, {"turn": 1}, False),
        (Gates(typed_only=True), {}, {"turn": 1}, True),
        (Gates(every_n_turns=1), {"data": {"auto_submit": True}}, {"turn": 1}, False),
        (Gates(needs_turn=True), {}, {"turn": 0}, False),
        (Gates(needs_turn=True), {}, {"turn": 1}, True),
        (Gates(min_turn=3), {}, {"turn": 2}, False),
        (Gates(min_turn=3), {}, {"turn": 3}, True),
        (Gates(every_n_turns=3), {}, {"turn": 0}, False),
        (Gates(every_n_turns=3), {}, {"turn": 4}, False),
        (Gates(every_n_turns=3), {}, {"turn": 6}, True),
        (Gates(message_contains=("DEPLOY", "ship")), {"data": {"prompt": "please deploy"}}, {}, True),
        (Gates(message_contains=("deploy",)), {"data": {"prompt": "hello"}}, {}, False),
        (Gates(message_contains=("deploy",)), {"data": {}}, {"last_prompt": "Deploy it"}, True),
    ],
)
def test_every_gate_that_is_set_must_pass(gates, changes, facts, passes):
    happening = replace(event("UserPromptSubmit"), **changes)
    why = gate(gates, happening, Facts(**facts))
    assert (why == "") is passes, why


def test_a_gated_hook_is_held_with_its_reason_but_keeps_its_place():
    specs = [hook_spec("a", gates=Gates(min_turn=9)), hook_spec("b")]
    selection = Index(specs).select(event("PreToolUse"), Facts(turn=1))
    assert [spec.name for spec in selection.chosen] == ["a", "b"]
    assert selection.held == {specs[0].id: "turn 1 is before turn 9"}


def test_a_hook_that_is_turned_off_is_not_there():
    assert Index([hook_spec("off", enabled=False)]).listening("PreToolUse") == ()


@pytest.mark.parametrize("odd", [7, True, None, [], {}, [{}]])
def test_a_subject_that_is_no_text_is_no_subject(odd):
    assert subject_names(event_kind("PreToolUse"), {"tool_name": odd}) == ()
    assert not chosen(subject("full", "Bash"), tool_name=odd)
    assert chosen(subject("any"), tool_name=odd)


def test_the_answer_for_a_subject_is_remembered_apart_from_that_for_another():
    index = Index([hook_spec("hook", matcher=subject("full", "Bash"))])
    for tool in ("Bash", "Edit", "Bash", "Edit"):
        assert bool(index.fitting(event_kind("PreToolUse"), {"tool_name": tool}).chosen) is (tool == "Bash")
    assert index.fitting(event_kind("PreToolUse"), {"tool_name": "Edit", "native_tool_name": "Bash"}).chosen


def test_neighbours_that_may_run_side_by_side_are_one_batch():
    specs = [hook_spec(f"{n}", flow=flow) for n, flow in enumerate(["chain", "parallel", "parallel", "chain", "chain"])]
    assert [[spec.name for spec in batch] for batch in batches(specs)] == [["0"], ["1", "2"], ["3"], ["4"]]


@pytest.mark.parametrize(
    ("value", "text"), [("a", "a"), (True, "true"), (None, ""), (3, "3"), ({"a": [1]}, '{"a": [1]}')]
)
def test_a_value_is_matched_as_the_text_a_person_would_write(value, text):
    assert as_text(value) == text


@pytest.mark.parametrize("path", ["a.b.c", "a.0.x", "a.-1", "", "a..b"])
def test_a_path_that_leads_nowhere_finds_nothing(path):
    assert lookup({"a": [{"b": 1}]}, path) == (False, None)
