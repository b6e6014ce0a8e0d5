"""Between any two agents a hook is carried with its meaning, or the report names it."""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Callable
from typing import Any

import pytest
import yaml

from hookline.core.agents import AGENTS, Agent
from hookline.core.hook import HookSpec, Pattern
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer, Lookup, Parsed
from hookline.dialects.tool_matchers import translate_tools

CLAUDE = {
    "PreToolUse": [("Bash", "./guard"), ("Edit|Write", "./format"), ("mcp__github__.*", "./server"), ("", "./all")],
    "PostToolUse": [("Bash", "./after")],
    **{event: [("", f"./{event}")] for event in ("SessionStart", "UserPromptSubmit", "Stop", "PreCompact")},
}
READ: dict[str, Callable[[str], Any]] = {"json": json.loads, "toml": tomllib.loads, "yaml": yaml.safe_load}
WITH_FILES = [agent.name for agent in AGENTS.values() if agent.form != "plugin"]


def parse(agent: Agent, text: str) -> Parsed:
    dialect = dialect_named(agent.dialect)
    layer = Layer(path="f", name="user", syntax=dialect.syntax, text=text, tree=READ[dialect.syntax](text))
    return dialect.parse([layer], Lookup())


def hooks_of(agent: Agent) -> tuple[HookSpec, ...]:
    """The same hooks as a file of this agent."""
    tree = {
        event: [{"matcher": matcher, "hooks": [{"type": "command", "command": command}]} for matcher, command in hooks]
        for event, hooks in CLAUDE.items()
    }
    claude = parse(AGENTS["claude-code"], json.dumps({"hooks": tree})).specs
    return claude if agent.name == "claude-code" else parse(agent, written(claude, agent)[0]).specs


def written(specs: tuple[HookSpec, ...], agent: Agent) -> tuple[str, str]:
    """The text, and all that is said to be lost."""
    translated = [translate_tools(spec, agent.dialect) for spec in specs]
    rendered = dialect_named(agent.dialect).render([spec for spec, _lost in translated])
    unknown = [f"{spec.name!r}: {lost}" for spec, lost in translated if lost]
    return rendered.text, "\n".join([*(loss.finding for loss in rendered.losses), *unknown])


def matches(pattern: Pattern, name: str) -> bool:
    if pattern.style == "exact":
        return name in pattern.options
    test = re.fullmatch if pattern.style == "full" else re.search
    return test(pattern.text, name) is not None


@pytest.mark.parametrize("source", WITH_FILES)
def test_every_agents_hooks_are_carried_to_every_other_or_reported(source: str) -> None:
    mine = hooks_of(AGENTS[source])
    assert mine, "there is something to carry"
    for target in AGENTS.values():
        if target.name == source:
            continue
        text, lost = written(mine, target)
        # Where each kind of tool has an event of its own, one hook is several.
        there: dict[str, list[HookSpec]] = {}
        for spec in parse(target, text).specs if target.form != "plugin" else ():
            there.setdefault(spec.name, []).append(spec)
        for spec in mine:
            known = there.get(spec.name, [])
            assert known or f"{spec.name!r}: " in lost, (target.name, spec.name, lost)
            assert {one.event for one in known} <= {spec.event}, (target.name, spec.name)
        for command, ours in (
            ("./guard", "Bash"),
            ("./after", "Bash"),
            ("./format", "Edit"),
            ("./server", "mcp__github__push"),
        ):
            if command in there and f"'{command}': the matcher" not in lost:
                subjects = [one.matcher.subject for one in there[command]]
                assert any(matches(one, target.tool_name(ours)) for one in subjects), (target.name, command, subjects)
                other = target.tool_name("Grep")
                assert not any(matches(one, other) for one in subjects), (target.name, command, subjects)


def _written_as(source: str, tree: dict[str, Any], target: str) -> tuple[Any, str]:
    text, lost = written(parse(AGENTS[source], json.dumps(tree)).specs, AGENTS[target])
    return json.loads(text)["hooks"], lost


def test_a_hook_goes_to_the_events_of_its_tools_where_each_kind_of_tool_has_one() -> None:
    hooks = [("Bash", "./guard"), ("Edit|WebFetch", "./some"), ("mcp__github__.*", "./server"), ("", "./all")]
    tree = {"PreToolUse": [{"matcher": on, "hooks": [{"type": "command", "command": one}]} for on, one in hooks]}
    found, lost = _written_as("claude-code", {"hooks": tree}, "windsurf")
    assert {event: [one["command"] for one in group] for event, group in found.items()} == {
        "pre_run_command": ["./guard", "./all"],
        "pre_write_code": ["./some", "./all"],
        "pre_read_code": ["./all"],
        "pre_mcp_tool_use": ["./all"],
    }
    assert "'./some': a matcher on WebFetch: not supported by windsurf\n" in lost
    assert "'./server': a matcher on mcp__github__.*: not supported by windsurf, so the hook is left out" in lost
    assert "'./all': other tools than Bash, Edit, Write, Read, mcp__.*: not supported by windsurf" in lost


def test_a_hook_on_one_kind_of_tool_does_not_run_on_the_others_elsewhere() -> None:
    events = ("beforeShellExecution", "beforeReadFile", "afterFileEdit", "afterMCPExecution")
    cursor = {"version": 1, "hooks": {event: [{"command": f"./{event}"}] for event in events}}
    found, _lost = _written_as("cursor", cursor, "claude-code")
    assert {(event, one["matcher"], one["hooks"][0]["command"]) for event, group in found.items() for one in group} == {
        ("PreToolUse", "Bash", "./beforeShellExecution"),
        ("PreToolUse", "Read", "./beforeReadFile"),
        ("PostToolUse", "Edit|Write", "./afterFileEdit"),
        ("PostToolUse", "^(?:mcp__.*)$", "./afterMCPExecution"),
    }


def test_what_is_matched_in_a_command_is_not_taken_for_the_name_of_a_tool() -> None:
    cursor = {"version": 1, "hooks": {"beforeShellExecution": [{"command": "./guard", "matcher": "curl|wget"}]}}
    found, lost = _written_as("cursor", cursor, "claude-code")
    assert (found, "'./guard': a test of the event's fields" in lost) == ({}, True)
    again, lost = _written_as("cursor", cursor, "cursor")
    assert (again, lost) == (cursor["hooks"], "")


def test_what_refuses_nothing_runs_more_often_where_there_is_no_matcher() -> None:
    start = {"SessionStart": [{"matcher": "startup", "hooks": [{"type": "command", "command": "./morning"}]}]}
    found, lost = _written_as("claude-code", {"hooks": start}, "cursor")
    assert [one["command"] for one in found["sessionStart"]] == ["./morning"]
    assert "'./morning': a matcher on SessionStart: not supported by cursor, so it runs on every SessionStart" in lost


@pytest.mark.parametrize("target", WITH_FILES)
def test_an_expression_is_written_as_agents_read_it(target: str) -> None:
    """Read for Python, its end is another sign; written so, it would match nothing there."""
    hooks = [("^Bash$", "./guard"), (r"^(?<any>Ba\w+|Edit)$", "./some"), (r"^mcp__\w+__push$", "./server")]
    tree = {"PreToolUse": [{"matcher": on, "hooks": [{"type": "command", "command": one}]} for on, one in hooks]}
    agent = AGENTS[target]
    text, _lost = written(parse(AGENTS["claude-code"], json.dumps({"hooks": tree})).specs, agent)
    assert not re.search(r"\\\\Z|\(\?a\)|\(\?P", text), text
    found = [(spec.name, spec.matcher.subject) for spec in parse(agent, text).specs]
    for name in {name for name, _subject in found} - {"./server"}:
        subjects = [subject for one, subject in found if one == name]
        assert any(matches(one, agent.tool_name("Bash")) for one in subjects), found


def test_a_servers_tool_beside_others_is_known_under_the_names_of_its_agent() -> None:
    droid = {"PreToolUse": [{"matcher": "Execute|github___push", "hooks": [{"type": "command", "command": "./guard"}]}]}
    text, _lost = written(parse(AGENTS["droid"], json.dumps(droid)).specs, AGENTS["claude-code"])
    assert json.loads(text)["hooks"]["PreToolUse"][0]["matcher"] == "Bash|mcp__github__push"
