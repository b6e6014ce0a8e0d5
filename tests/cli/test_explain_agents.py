"""``hookline explain --agent``: what each agent would be told, and what would be lost on it."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.cli.capabilities import ability
from hookline.core.agents import all_agents
from hookline.core.event import EVENTS

HOOKS = """
[[hook]]
name = "guard"
on = "PreToolUse"
on_failure = "deny"
run = "true"

[[hook]]
name = "softly"
on = "PreToolUse"
on_unsupported = "ignore"
run = "true"

[[hook]]
name = "again"
on = "Stop"
run = "true"

[[hook]]
name = "nowhere"
on = "FileChanged"
on_failure = "deny"
run = "true"
"""


@pytest.fixture
def hooked(project: Any) -> Any:
    project.write("hooks.toml", HOOKS)
    return project


def table(hooked: Any, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
    rows = hooked.run("explain", *words, "--config", "hooks.toml", "--json").json["agents"]
    return {(row["agent"], row["event"]): row for row in rows}


def test_one_agent_and_one_event(hooked: Any) -> None:
    (one,) = table(hooked, "PreToolUse", "--agent", "gemini").values()
    assert one == {
        "agent": "gemini-cli", "event": "PreToolUse", "fires": "natively", "native_event": "BeforeTool", "derived_from": [],
        "deny": "yes", "ask": "becomes a deny", "allow": "no effect", "rewrite": {"tool_input": "adds only"},
        "context": "lost", "messages": "yes",
        "lost": [
            "ask becomes a deny", "context is lost", "a change of tool_input can add and replace keys, not remove",
        ],
    }  # fmt: skip


def test_all_agents_and_every_event_that_hooks_listen_to(hooked: Any) -> None:
    rows = table(hooked, "--agent", "all")
    assert {event for _, event in rows} == {"PreToolUse", "Stop", "FileChanged"}
    assert {agent for agent, _ in rows} == set(all_agents())
    assert rows["codex", "FileChanged"]["fires"] == "never"
    assert rows["opencode", "Stop"]["deny"] == "lost"
    assert rows["claude-code", "PreToolUse"]["allow"] == "yes"


def test_what_an_agent_never_fires_is_made_up_where_it_can_be(hooked: Any) -> None:
    (one,) = table(hooked, "PostToolUseFailure", "--agent", "codex").values()
    assert (one["fires"], one["derived_from"], one["context"]) == ("derived", ["PostToolUse"], "yes")


def test_a_person_is_told_which_hooks_are_concerned(hooked: Any) -> None:
    said = hooked.run("explain", "--agent", "codex", "--config", "hooks.toml").out
    assert "codex, PreToolUse: ask becomes a deny" in said
    assert "skipped instead of denied, because on_unsupported is ignore: softly" in said
    assert "codex, FileChanged: the event never fires there" in said
    assert "cannot deny there when they fail, despite on_failure: nowhere" in said


def test_the_data_at_hand_are_what_is_looked_at(hooked: Any) -> None:
    one = {"tool_name": "Bash", "tool_input": {"command": "ls"}}
    (row,) = table(hooked, "PreToolUse", "--agent", "letta-code", "--data", json.dumps(one)).values()
    assert row["rewrite"] == {"tool_input": "yes"}  # there is nothing to take away


def test_a_name_that_a_hook_waits_for_is_only_a_name(project: Any) -> None:
    project.write("mine.toml", '[[hook]]\nname = "m"\non = "Stop"\nrun = "true"\nwhen = { agent = ["mine"] }\n')
    told = project.run("explain", "Stop", "--agent", "mine", "--config", "mine.toml", "--json").json
    assert ("agents" in told, told["hooks"][0]["would_run"]) == (False, True)


@pytest.mark.parametrize("event", [(), ("PreToolUse",)])
def test_an_agent_that_nobody_knows_is_wrong_usage(hooked: Any, event: tuple[str, ...]) -> None:
    told = hooked.run("explain", *event, "--agent", "cluade", "--config", "hooks.toml")
    assert (told.code, told.out, "claude-code" in told.err) == (64, "", True)


@pytest.mark.parametrize("agent", all_agents())
def test_there_is_an_answer_for_every_event(agent: str) -> None:
    for event in EVENTS:
        one = ability(agent, event, {})
        assert (one.fires == "never") == (one.losses() == ("the event never fires there, so its hooks do not run",))
