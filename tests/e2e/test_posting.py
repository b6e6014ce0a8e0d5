"""Agents that post their events: what they do with the answers, and what is left when nobody listens."""

from __future__ import annotations

import json

import pytest
from tests.e2e.world import World

HOOKS = """
[[hook]]
name = "guard"
on = "PreToolUse"
run = ["sh", "-c", "grep -q forbidden && { echo NOT-ALLOWED >&2; exit 2; }; exit 0"]
on_failure = "deny"

[[hook]]
name = "note"
on = "PostToolUse"
run = ["echo", '{"context": "NOTE-THAT-WAS-POSTED"}']
"""


def posting(world: World) -> None:
    if world.agent.name not in {"claude-code", "qwen-code"}:
        pytest.skip("it cannot post to this machine")
    world.hooks(HOOKS)
    world.hookline("deploy", "--agent", world.agent.name, "--door", "http")
    hooks = json.loads(world.registered.read_text(encoding="utf-8"))["hooks"]
    kinds = {event: listed[-1]["hooks"][0]["type"] for event, listed in hooks.items()}
    assert (kinds["PreToolUse"], kinds["PostToolUse"]) == ("command", "http")


def test_what_was_posted_is_answered(world: World) -> None:
    posting(world)
    session = world.run(first=([str(world.program), "daemon", "start"],))

    assert session.reached_the_model("NOTE-THAT-WAS-POSTED"), session
    assert world.has("proof.txt")
    assert {"PreToolUse", "PostToolUse"} <= {one["event"] for one in world.log()}


def test_nothing_that_guards_is_lost_when_nobody_listens(world: World) -> None:
    posting(world)
    session = world.run(world.call("echo forbidden > proof.txt"))

    assert session.reached_the_model("NOT-ALLOWED"), session
    assert not world.has("proof.txt")


def test_the_native_client_is_a_door_like_the_command(world: World) -> None:
    """It starts a daemon by itself, answers through it, and a guard holds when the client is gone."""
    if world.agent.name == "opencode":
        pytest.skip("its plugin asks over the socket")
    world.hooks(HOOKS)
    world.hookline("deploy", "--agent", world.agent.name, "--door", "client", "--approve")

    session = world.run(world.call("echo forbidden > proof.txt"))
    assert session.reached_the_model("NOT-ALLOWED"), session
    assert not world.has("proof.txt")

    (world.home / ".local/share/hookline/bin/hookc").unlink()
    world.run()
    assert not world.has("proof.txt")
