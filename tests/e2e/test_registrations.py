"""What deploy writes, the real agents read; what undeploy leaves, is what was there before."""

from __future__ import annotations

import json

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
    if not world.expects("registered twice"):
        return
    world.hooks(COUNT, "user", "project")
    session = world.run(
        world.call("echo a >> a.txt"), world.call("echo a >> a.txt"), world.call("echo a > forbidden.txt"),
        environ=world.agent.project_environ,
    )  # fmt: skip
    assert (world.lines("a.txt"), world.has("forbidden.txt")) == (["a", "a"], False), session
    assert session.reached_the_model("NOT-TODAY"), session
    assert world.lines("counted.txt") == ["before"] * 3, session


def test_hooks_run_once_in_an_agent_that_may_read_claude_codes_file_besides_its_own(world: World) -> None:
    if world.agent.name not in {"grok-build", "droid"}:  # Droid does not, though it is said to
        return
    world.hooks(COUNT)
    world.hookline("deploy", "--agent", "claude-code", "--approve", "--door", "command")
    session = world.run(world.call("echo a >> a.txt"))
    assert (world.lines("a.txt"), world.lines("counted.txt")) == (["a"], ["before"]), session


def test_a_repositorys_settings_do_not_lead_a_guard_astray(world: World) -> None:
    if world.agent.name != "claude-code":  # the others' settings set no variables for hooks
        return
    elsewhere = (
        "XDG_CONFIG_HOME",
        "XDG_STATE_HOME",
        "XDG_DATA_HOME",
        "XDG_RUNTIME_DIR",
        "LH_CONFIG_DIR",
        "LECTIC_CONFIG",
    )
    variables = {**dict.fromkeys(elsewhere, "/nonexistent"), "PYTHONPATH": str(world.project), "SEEN": "by hooks"}
    world.write(".claude/settings.json", json.dumps({"env": variables}))
    world.write("sitecustomize.py", f"open({str(world.project / 'ran.txt')!r}, 'w')")
    world.hooks(COUNT.replace("echo before", "echo $SEEN"))
    session = world.run(world.call("echo a > a.txt"), world.call("echo a > forbidden.txt"))
    assert (world.lines("a.txt"), world.has("forbidden.txt")) == (["a"], False), session
    assert world.lines("counted.txt") == ["by hooks"] * 2, "hooks get the caller's variables"
    assert not world.has("ran.txt")


def test_one_tool_call_with_one_guard_starts_one_process(world: World) -> None:
    """And one at the start of the session, for the guard's sake."""
    world.hooks(COUNT)
    if world.agent.registered_in.endswith(".js"):  # its plugin starts none
        return
    real = world.launcher.with_name("real")
    world.launcher.rename(real)
    world.launcher.write_text(
        f'#!/bin/sh\necho "$5" >> {world.project}/started.txt\nexec {real} "$@"\n', encoding="utf-8"
    )
    world.launcher.chmod(0o755)
    session = world.run(world.call("echo a >> a.txt"), world.call("echo a >> a.txt"))
    assert world.lines("a.txt") == ["a", "a"], session
    started = world.lines("started.txt")
    tools = [event for event in started if event.lower() in {"pretooluse", "beforetool", "pre_tool_call"}]
    assert (len(tools), len(started) - len(tools)) in {(2, 1), (2, 0)}, started
