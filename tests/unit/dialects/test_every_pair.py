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
        there = {spec.name: spec for spec in parse(target, text).specs} if target.form != "plugin" else {}
        for spec in mine:
            known = there.get(spec.name)
            assert known is not None or f"{spec.name!r}: " in lost, (target.name, spec.name, lost)
            if known is not None:
                assert known.event == spec.event, (target.name, spec.name)
        for command, ours in (
            ("./guard", "Bash"),
            ("./after", "Bash"),
            ("./format", "Edit"),
            ("./server", "mcp__github__push"),
        ):
            if command in there and f"'{command}': the matcher" not in lost:
                subject = there[command].matcher.subject
                assert matches(subject, target.tool_name(ours)), (target.name, command, subject)
                other = target.tool_name("Grep")
                assert not matches(subject, other), (target.name, command, subject)
