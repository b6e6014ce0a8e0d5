"""A match on a field that the events do not have is told, with the name that was meant."""

from __future__ import annotations

from typing import Any

import pytest

from hookline.core.agents import AGENTS
from hookline.core.hook import Command, FieldTest, Gates, Matcher, Mode, Pattern
from hookline.core.samples import hook_spec
from hookline.engine.lint_matchers import gate_problems, match_problems, mode_problems, server_problems


def told(*paths: str, events: tuple[str, ...] = ("PreToolUse",)) -> list[tuple[str, str]]:
    tests = tuple(FieldTest(path=path, pattern=Pattern(style="full", text="x")) for path in paths)
    specs = [hook_spec("guard", event=event, matcher=Matcher(fields=tests)) for event in events]
    found = match_problems(specs)
    assert all(one.severity == "warning" for one in found)
    return [(one.finding, one.fix) for one in found]


def test_a_field_no_event_of_the_hook_has_is_told_with_the_nearest_name() -> None:
    ((finding, fix),) = told("tool")
    assert "match asks for 'tool', which PreToolUse does not have" in finding
    assert fix == "did you mean 'tool_name'?"
    ((_, fix),) = told("zzz", events=("Stop",))
    assert fix.startswith("documented fields: stop_reason")


@pytest.mark.parametrize(
    ("match", "agent", "is_hidden"),
    [
        ("mcp__github__.*", "cursor", True),
        ("Bash|mcp__github__push", "cursor", True),
        ("mcp__.*", "cursor", False),
        ("mcp__.*__push", "cursor", False),
        ("mcp__(github|unknown)__push", "cursor", False),
        ("mcp__unknown__push", "cursor", False),
        ("mcp__github__.*", "deepagents", False),
    ],
)
def test_a_hook_on_one_server_is_reported_where_servers_are_not_told_apart(
    match: str, agent: str, is_hidden: bool
) -> None:
    spec = hook_spec("guard", event="PreToolUse", matcher=Matcher(subject=Pattern(style="full", text=match)))
    found = [one.finding for one in server_problems([spec], AGENTS[agent])]
    never = "the hook 'guard': Cursor does not tell which MCP server a tool belongs to, so it never runs there"
    assert found == ([never] if is_hidden else [])


def test_a_misspelt_field_of_a_tool_is_told() -> None:
    ((finding, fix),) = told("tool_input.comand")
    assert "'tool_input.comand'" in finding
    assert fix == "did you mean 'tool_input.command'?"


@pytest.mark.parametrize(
    "path", ["tool_name", "tool_input.command", "tool_input.text", "tool_input.ticket", "cwd", "permission_mode"]
)
def test_what_may_be_there_is_left_alone(path: str) -> None:
    assert told(path) == []


def test_one_event_that_has_the_field_is_enough_and_an_event_without_documented_fields_says_nothing() -> None:
    assert told("prompt", events=("PreToolUse", "UserPromptSubmit")) == []
    assert told("task", events=("TaskCreated",)) == []
    assert told("anything", events=("codex:Odd",)) == []


def on_tool(text: str) -> list[tuple[str, str]]:
    found = match_problems(
        [hook_spec("guard", event="PreToolUse", matcher=Matcher(subject=Pattern(style="full", text=text)))]
    )
    return [(one.finding, one.fix) for one in found]


@pytest.mark.parametrize(
    ("text", "finding", "fix"),
    [
        ("rm -rf", "looks like a command: the hook never runs", """tool_input.command" = 'rm -rf'"""),
        ("git", "looks like a command: the hook never runs", """tool_input.command" = 'git'"""),
        ("Bas", "has 'Bas', and no usual tool is called so", "did you mean 'Bash'?"),
        ("bash", "has 'bash', a name that only some agents use", "write 'Bash' for every agent's"),
        ("Read|write_file", "has 'write_file', a name that only some", "write 'Write' for every agent's"),
        (" Bash ", "has spaces or commas", "write 'Bash'"),
        ("Bash | Edit", "has spaces or commas", "write 'Bash|Edit'"),
        ("Bash,Edit", "has spaces or commas", "write 'Bash|Edit'"),
        ("Shell", "has 'Shell', a name that only some", "write 'Bash' for every agent's"),
        ("mcp__github__*", "* only repeats the letter before it", "write 'mcp__github__.*'"),
        ("Edit|Notebook*", "* only repeats the letter before it", "write 'Notebook.*'"),
        ("mcp__my_server", "a server and not one of its tools: the hook never runs", "write 'mcp__my_server__.*'"),
        ("Bash(rm *)", "has no arguments: the hook never runs", "\"tool_input.command\" = '…'"),
    ],
)
def test_a_pattern_that_looks_like_a_tool_and_is_none_is_told(text: str, finding: str, fix: str) -> None:
    ((found, advice),) = on_tool(text)
    assert finding in found
    assert fix in advice


@pytest.mark.parametrize(
    "text",
    [
        "Bash",
        "Bash|Edit",
        "Edit|Write|MultiEdit",
        "bash|Bash",
        "(Bash|Edit)",
        "mcp__.*",
        "apply_patch",
        ".*",
        "Bash(?!x)",
    ],
)
def test_patterns_that_can_match_are_left_alone(text: str) -> None:
    assert on_tool(text) == []


def test_a_tool_field_beside_the_input_is_told_with_its_path() -> None:
    ((_, fix),) = told("command")
    assert fix == "did you mean 'tool_input.command'?"


def on_field(tool: str, path: str, text: str = "x", agent: tuple[str, ...] = ()) -> list[tuple[str, str]]:
    test = FieldTest(path=path, pattern=Pattern(style="search across lines", text=text))
    subject = Pattern(style="full", text=tool) if tool else Pattern()
    matcher, gates = Matcher(subject=subject, fields=(test,)), Gates(agent=agent)
    found = match_problems([hook_spec("guard", event="PreToolUse", matcher=matcher, gates=gates)])
    return [(one.finding, one.fix) for one in found]


@pytest.mark.parametrize(
    ("tool", "path"), [("", "cmd"), ("Bash", "cmd"), ("Edit|Write", "filePath"), ("Write", "text")]
)
def test_a_name_that_only_some_agents_give_a_field_is_told(tool: str, path: str) -> None:
    ((finding, fix),) = on_field(tool, f"tool_input.{path}")
    assert f"only some agents call it 'tool_input.{path}'" in finding
    assert fix.startswith("write 'tool_input.")


def test_a_name_of_one_agent_is_right_in_a_hook_for_that_agent_or_another_tool() -> None:
    assert on_field("Bash", "tool_input.cmd", agent=("codex",)) == []
    assert on_field("mcp__files__put", "tool_input.filePath") == []
    assert on_field("Grep", "tool_input.path") == []


def test_a_line_break_at_the_end_of_a_pattern_is_told() -> None:
    ((finding, fix),) = on_field("Bash", "tool_input.command", "rm -rf\n")
    assert "has a line break at its end" in finding
    assert fix.startswith("write 'rm -rf'")
    assert on_field("Bash", "tool_input.command", "rm\n-rf") == []


def gated(**gates: Any) -> list[str]:
    return [one.fix for one in gate_problems([hook_spec("guard", event="PreToolUse", gates=Gates(**gates))])]


def test_a_when_that_nothing_fulfils_is_told() -> None:
    assert gated(agent=("claud",)) == ["did you mean 'claude'?"]
    assert gated(cwd=("work",)) == ['write "**/work"']


def test_a_when_that_something_can_fulfil_is_left_alone() -> None:
    for names in (("claude",), ("claude-code",), ("claud", "codex"), ("our-own-bot",)):
        assert gated(agent=names) == []
    for folders in (("/home/me/work/**",), ("~/work/**",), ("**/work",), ("work", "/srv/*")):
        assert gated(cwd=folders) == []


@pytest.mark.parametrize(
    ("pattern", "fix"),
    [
        (Pattern(style="exact", options=("bash",)), "write 'Bash' for every agent's"),
        (Pattern(style="exact", options=("run_shell_command", "Edit")), "write 'Bash' for every agent's"),
        (Pattern(style="search", text="Bash(rm:*)"), 'write "matcher": "Bash", "if": "Bash(rm:*)"'),
    ],
)
def test_a_matcher_for_claude_code_that_names_no_tool_of_it_is_told(pattern: Pattern, fix: str) -> None:
    spec = hook_spec("guard", event="PreToolUse", dialect="claude", matcher=Matcher(subject=pattern))
    assert [one.fix for one in match_problems([spec])] == [fix]


@pytest.mark.parametrize("options", [("Bash",), ("Edit", "Write", "MultiEdit"), ("Agent",), ("NotebookEdit",)])
def test_claude_codes_own_tools_are_left_alone(options: tuple[str, ...]) -> None:
    matcher = Matcher(subject=Pattern(style="exact", options=options))
    assert match_problems([hook_spec("guard", event="PreToolUse", dialect="claude", matcher=matcher)]) == []


@pytest.mark.parametrize(
    ("mode", "text", "late"),
    [
        ("background", "grep -q rm && exit 2", True),
        ("detached", """echo '{"effect": "deny"}'""", True),
        ("background", "date >> log", False),
        ("sync", "exit 2", False),
    ],
)
def test_a_guard_that_nobody_waits_for_is_pointed_out(mode: Mode, text: str, late: bool) -> None:
    action = Command(form="shell", text=text)
    found = mode_problems([hook_spec("guard", event="PreToolUse", action=action, mode=mode)])
    assert [one.finding for one in found] == [
        f"'guard' runs in mode {mode}, so its answer comes too late to refuse"
    ] * late
