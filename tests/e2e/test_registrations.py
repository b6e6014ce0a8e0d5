"""What deploy writes, the real agents read; what undeploy leaves, is what was there before."""

from __future__ import annotations

import pytest
from tests.e2e.results import proves
from tests.e2e.world import World, files

COUNT = """\
[[hook]]
name = "count"
on = "PreToolUse"
shell = "echo before >> counted.txt"

[[hook]]
name = "deny"
on = "PreToolUse"
match = { "tool_input.command" = ".*forbidden.*" }
shell = "echo 'NOT-TODAY' >&2; exit 2"
"""


@pytest.mark.gate
@proves("undeploy")
def test_undeploy_leaves_nothing(world: World) -> None:
    before = files(world)
    world.hooks(COUNT)
    assert files(world) != before
    world.hookline("undeploy", "--agent", world.agent.name)
    assert files(world) == before
    session = world.run()
    assert world.has("proof.txt"), session
    assert not world.has("counted.txt")


@proves("registered twice")
def test_hooks_run_once_when_registered_for_the_user_and_for_the_project(world: World) -> None:
    world.hooks(COUNT, "user", "project")
    session = world.run(
        world.call("echo a >> a.txt"), world.call("echo a >> a.txt"), world.call("echo a > forbidden.txt"),
        environ=world.agent.project_environ,
    )  # fmt: skip
    assert (world.lines("a.txt"), world.has("forbidden.txt")) == (["a", "a"], False), session
    assert session.reached_the_model("NOT-TODAY"), session
    assert world.lines("counted.txt") == ["before"] * 3, session
