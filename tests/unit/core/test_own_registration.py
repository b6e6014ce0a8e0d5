"""What hookline wrote into an agent's file is never read as a hook, whatever form it has."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.core.agents import all_agents
from hookline.core.own_registration import calls_hookline, is_ours
from hookline.deploy.registration import EntryCaller, registrations
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer, Lookup

DIALECTS = {
    "claude-code": "claude", "codex": "codex", "gemini-cli": "gemini", "qwen-code": "qwen", "letta-code": "letta",
    "copilot-cli": "copilot",
}  # fmt: skip
PROGRAMS = ("/usr/bin/hookline", "/home/a b/.local/share/hookline/bin/hookline", "hookline")


def read(agent: str, hooks: dict[str, list[Any]]) -> list[str]:
    text = json.dumps({"version": 1, "hooks": hooks})
    layer = Layer(path="/x/settings.json", name="user", syntax="json", text=text, tree=json.loads(text))
    parsed = dialect_named(DIALECTS[agent]).parse([layer], Lookup())
    assert not [one for one in parsed.problems if one.severity == "error"]
    return [spec.name for spec in parsed.specs]


@pytest.mark.parametrize("canonical", ["PreToolUse", "PostToolUse"])
@pytest.mark.parametrize("program", PROGRAMS)
@pytest.mark.parametrize("agent", DIALECTS)
def test_a_registration_is_no_hook_of_the_agent_it_was_written_for(agent: str, program: str, canonical: str) -> None:
    wanted = registrations(all_agents()[agent], EntryCaller(program=program), (canonical,))
    (event, entry) = (wanted[0].event, wanted[0].entry)
    mine = json.loads(json.dumps(entry))
    inner = mine["hooks"][0] if "hooks" in mine else mine
    inner["bash" if "bash" in inner else "command"] = "./mine"
    assert read(agent, {event: [entry]}) == []
    assert len(read(agent, {event: [entry, mine, entry]})) == 1


@pytest.mark.parametrize(
    "fields",
    [
        {"command": "hookline hook --agent claude-code --event PreToolUse"},
        {"command": "hookline hook --agent claude"},
        {"command": "hookline hook --deadline 60 --agent=claude"},
        {"command": "python3 -m hookline hook --agent claude"},
        {"command": "/opt/hookline", "args": ["hook", "--agent", "claude"]},
        {"command": "/bin/sh -c '/opt/hookline hook --agent codex --event Stop || exit 2'"},
        {"bash": "o=$(/opt/hookline hook --agent copilot-cli --event preToolUse) || { c=$?; }"},
        {"type": "http", "url": "http://127.0.0.1:4321/hookline/claude-code/PreToolUse"},
    ],
)
def test_a_call_of_hookline_is_known_in_every_form(fields: dict[str, Any]) -> None:
    assert calls_hookline(fields)


@pytest.mark.parametrize(
    "line",
    ["hookline hook context-inject", "./guard", "hookline log", "not-hookline hook --agent x", "http://127.0.0.1:1/x"],
)
def test_a_hook_that_calls_no_further_hooks_is_a_hook(line: str) -> None:
    assert not calls_hookline({"command": line})
    assert not is_ours(line)
