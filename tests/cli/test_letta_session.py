"""Letta Code sends no session id, and at the end of an answer no id at all: its process says which session it is."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.cli.conftest import Project

AGENT = "agent-local-b4c84ec5-aee5-4f99-8666-ce2234cfc6a1"

STOPPER = """
[[hook]]
name = "never-done"
on = "Stop"
shell = "echo once more >&2; exit 2"
"""


@pytest.fixture
def letta(project: Project) -> Project:
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text(STOPPER, encoding="utf-8")
    return project


def send(project: Project, event: str, **fields: Any) -> int:
    sent = {"event_type": event, "working_directory": str(project.path), **fields}
    return project.run("hook", "--agent", "letta-code", stdin=json.dumps(sent), HOOKLINE_DAEMON="off").code


def stop(project: Project, **ids: str) -> int:
    return send(project, "Stop", stop_reason="end_turn", message_count=4, assistant_message="Done.", **ids)


def prompt(project: Project, conversation: str = "default") -> int:
    ids = {"agent_id": AGENT, "conversation_id": conversation}
    return send(project, "UserPromptSubmit", prompt="Write hello", is_command=False, **ids)


def test_a_stop_without_any_id_is_refused_eight_times_and_then_passes(letta: Project) -> None:
    assert prompt(letta) == 0
    assert [stop(letta) for _ in range(9)] == [2] * 8 + [0]


def test_a_typed_prompt_starts_the_count_again(letta: Project) -> None:
    prompt(letta)
    assert [stop(letta) for _ in range(5)] == [2] * 5
    prompt(letta)
    assert [stop(letta) for _ in range(9)] == [2] * 8 + [0]


def test_the_reason_that_letta_submits_itself_does_not_start_it_again(letta: Project) -> None:
    prompt(letta)
    assert [stop(letta) for _ in range(8)] == [2] * 8
    send(letta, "UserPromptSubmit", prompt="<stop-hook>\nonce more\n</stop-hook>", agent_id=AGENT)
    assert stop(letta) == 0


def test_a_stop_belongs_to_the_conversation_of_the_latest_prompt(letta: Project) -> None:
    prompt(letta, "conv-1")
    assert [stop(letta) for _ in range(8)] == [2] * 8
    prompt(letta, "conv-2")
    assert stop(letta) == 2
    rows = [json.loads(line) for line in letta.run("log", "--json").out.splitlines()]
    assert {row["session"] for row in rows if row["event"] == "Stop"} == {"conv-1", "conv-2"}


def test_the_ids_of_a_subagent_are_not_the_sessions(letta: Project) -> None:
    prompt(letta, "conv-1")
    send(letta, "SubagentStop", subagent_type="explore", success=True, agent_id="agent-2", conversation_id="conv-9")
    stop(letta)
    rows = [json.loads(line) for line in letta.run("log", "--json").out.splitlines()]
    assert {row["session"] for row in rows} == {"conv-1"}
