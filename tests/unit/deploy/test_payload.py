"""What we send in an agent's name is what its dialect understands."""

from __future__ import annotations

import pytest

from hookline.core.agents import all_agents
from hookline.core.event import Event, event_kind
from hookline.core.samples import sample
from hookline.deploy.payload import build_payload
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events

PAIRS = [(agent, event) for agent, target in all_agents().items() for event in sorted(native_events(target))]


def made(event: str, agent: str) -> Event:
    return Event(kind=event_kind(event), data=sample(event), session="s-1", cwd="/work", agent=agent, native_name=event)


@pytest.mark.parametrize(("agent", "event"), PAIRS)
def test_every_event_of_every_agent_comes_back_as_itself(agent: str, event: str) -> None:
    target = all_agents()[agent]
    sent = build_payload(target, made(event, agent))
    came = dialect_named(target.dialect).event_in(native_events(target)[event], sent, {})
    assert came.event == event
    if event in {"PreToolUse", "PostToolUse"}:
        assert came.data["tool_name"] == "Bash"
        assert came.data["tool_input"]["command"] == "ls -l"
    if agent != "letta-code" and (agent, event) != ("opencode", "SessionEnd"):
        assert came.session == "s-1"


def test_an_event_that_the_agent_does_not_have_is_sent_by_nobody() -> None:
    assert build_payload(all_agents()["codex"], made("PostToolUseFailure", "codex")) == {}


def test_tools_have_the_agents_own_names() -> None:
    event = made("PreToolUse", "claude-code")
    assert build_payload(all_agents()["gemini-cli"], event)["tool_name"] == "run_shell_command"
    assert build_payload(all_agents()["copilot-cli"], event)["toolName"] == "bash"
    assert build_payload(all_agents()["opencode"], event)["input"]["tool"] == "bash"
