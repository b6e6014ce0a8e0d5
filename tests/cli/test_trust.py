"""Hooks that a project brings along run only after a person approved their content."""

from __future__ import annotations

import json

import pytest

HOOKS = """
[[hook]]
name = "guard"
on = "PreToolUse"
run = "./guard.sh"
on_failure = "deny"
"""
LS = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


@pytest.fixture
def guarded(project):
    project.write(".hookline/hookline.toml", HOOKS)
    project.write("guard.sh", "#!/bin/sh\nexit 0\n", mode=0o755)
    return project


def test_a_strangers_hook_does_not_run_and_everybody_is_told(guarded):
    result = guarded.fire("PreToolUse", LS)
    outcome = result.json["outcomes"][0]
    assert (outcome["status"], "hookline trust" in outcome["error"], "hookline trust" in result.err) == (
        "skipped",
        True,
        True,
    )
    assert guarded.run("list", "--json").json["hooks"][0]["trust"] == "unknown"
    assert guarded.run("log", "--json").json["outcomes"][0]["status"] == "skipped"


def test_an_approved_hook_runs(guarded):
    assert guarded.run("trust", "--yes").code == 0
    assert guarded.fire("PreToolUse", LS).json["outcomes"][0]["status"] == "replied"


def test_without_a_terminal_nothing_is_approved_by_accident(guarded):
    assert guarded.run("trust").code == 1
    assert guarded.fire("PreToolUse", LS).json["outcomes"][0]["status"] == "skipped"


def test_a_guard_that_was_edited_counts_as_failed_not_as_absent(guarded):
    guarded.run("trust", "--yes")
    guarded.write("guard.sh", "#!/bin/sh\nexit 0 # edited\n", mode=0o755)
    result = guarded.fire("PreToolUse", LS)
    assert (result.json["effect"], result.json["outcomes"][0]["status"]) == ("deny", "failed")
    assert "guard.sh" in result.json["reason"]


def test_a_guard_whose_definition_was_edited_counts_as_failed(guarded):
    guarded.run("trust", "--yes")
    guarded.write(".hookline/hookline.toml", HOOKS.replace("./guard.sh", "true"))
    assert guarded.fire("PreToolUse", LS).json["outcomes"][0]["status"] == "failed"


def test_a_guard_that_was_taken_out_is_missed(guarded):
    guarded.run("trust", "--yes")
    guarded.write(".hookline/hookline.toml", "")
    assert "guard" in guarded.fire("PreToolUse", LS).err
    assert guarded.run("status", "--json").json["hooks"]["missing"] == 1


def test_a_revoked_hook_is_a_stranger_again(guarded):
    guarded.run("trust", "--yes")
    assert guarded.run("trust", "--list", "--json").json["trusted"][0]["hook"] == "guard"
    assert guarded.run("trust", "--revoke", "guard").code == 0
    assert guarded.fire("PreToolUse", LS).json["outcomes"][0]["status"] == "skipped"


def test_revoking_what_is_not_there_is_an_error_that_names_the_next_command(guarded):
    result = guarded.run("trust", "--revoke", "nobody")
    assert (result.code, "hookline trust --list" in result.err) == (64, True)


def test_a_machine_may_decide_for_itself(guarded):
    assert guarded.fire("PreToolUse", LS, HOOKLINE_TRUST="all").json["outcomes"][0]["status"] == "replied"


def test_the_agents_door_does_not_let_a_repository_decide(guarded):
    payload = json.dumps({"event": "PreToolUse", "data": {"tool_name": "Bash"}, "cwd": str(guarded.path)})
    planted = str(guarded.path / "state")
    result = guarded.run("hook", "--agent", "native", stdin=payload, HOOKLINE_TRUST="all", HOOKLINE_STATE_DIR=planted)
    assert "hookline trust" in result.err
    assert not (guarded.path / "state").exists()


def test_files_named_on_the_command_line_are_trusted_by_that(guarded):
    result = guarded.fire("PreToolUse", LS, "--config", ".hookline/hookline.toml")
    assert result.json["outcomes"][0]["status"] == "replied"
