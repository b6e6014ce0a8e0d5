"""The native client as a door, with the real agents."""

from __future__ import annotations

import pytest
from tests.e2e.world import World

HOOKS = """
[[hook]]
name = "guard"
on = "PreToolUse"
run = ["sh", "-c", "grep -q forbidden && { echo NOT-ALLOWED >&2; exit 2; }; exit 0"]
on_failure = "deny"
"""


def test_the_native_client_is_a_door_like_the_command(world: World) -> None:
    """It starts a daemon by itself, answers through it, and a guard holds when the client is gone."""
    if world.agent.registered_in.endswith(".js"):
        pytest.skip("its plugin asks over the socket")
    world.hooks(HOOKS)
    world.hookline("deploy", "--agent", world.agent.name, "--door", "client", "--approve")

    session = world.run(world.call("echo forbidden > proof.txt"))
    assert session.reached_the_model("NOT-ALLOWED"), session
    assert not world.has("proof.txt")

    (world.home / ".local/share/hookline/bin/hookc").unlink()
    world.run()
    assert not world.has("proof.txt")
