"""An agent's file that holds both hooks and hookline's own entries, read as a source: nothing calls itself."""

from __future__ import annotations

import json
import sys

import pytest

TOOL = {"tool_name": "Bash", "tool_input": {"command": "ls"}}


def user_config(project, text):
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)


@pytest.fixture
def deployed(project):
    """Claude Code's settings are a source, have a hook of the person's own, and hookline is deployed into them."""
    user_config(project, '[[source]]\ndialect = "claude"\n')
    settings = project.home / ".claude/settings.json"
    settings.parent.mkdir()
    mine = {"type": "command", "command": f"echo ran >> '{project.home}/ran'"}
    settings.write_text(json.dumps({"hooks": {"PreToolUse": [{"matcher": "*", "hooks": [mine]}]}}))
    assert project.run("deploy", "--agent", "claude").code == 0
    return project


def test_the_other_hooks_of_a_deployed_file_run_exactly_once(deployed):
    done = deployed.fire("PreToolUse", TOOL)
    assert (done.code, len(done.json["outcomes"])) == (0, 1)
    assert (deployed.home / "ran").read_text() == "ran\n"
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(deployed.path), **TOOL}
    assert deployed.run("hook", "--agent", "codex", stdin=json.dumps(payload)).code == 0
    assert (deployed.home / "ran").read_text() == "ran\n" * 2


def test_what_was_deployed_stays_as_it_is(deployed):
    text = (deployed.home / ".claude/settings.json").read_text()
    assert deployed.run("deploy", "--status", "--agent", "claude").code == 0
    assert "nothing to change" in deployed.run("deploy", "--agent", "claude").out
    assert (deployed.home / ".claude/settings.json").read_text() == text


def calling_itself(project):
    caller = project.write(
        "calls",
        f"#!/bin/sh\necho called >> '{project.home}/called'\nexec {sys.executable} -m hookline hook --agent claude --cold\n",
        mode=0o755,
    )
    entry = [{"hooks": [{"type": "command", "command": f"'{caller}'"}]}]
    (project.home / "hooks.json").write_text(json.dumps({"hooks": {"PreToolUse": entry, "Stop": entry}}))
    user_config(project, '[[source]]\ndialect = "claude"\npath = "~/hooks.json"\n')


@pytest.mark.parametrize("event", ["PreToolUse", "Stop"])
def test_a_hook_that_calls_hookline_for_its_own_event_comes_to_an_end(project, event):
    calling_itself(project)
    payload = {"hook_event_name": event, "session_id": "s", "cwd": str(project.path), **TOOL}
    done = project.run("hook", "--agent", "claude", "--cold", stdin=json.dumps(payload))
    assert done.code == 0
    assert len((project.home / "called").read_text().splitlines()) == 5


def test_a_false_depth_refuses_and_switches_no_guard_off(project):
    user_config(project, '[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "exit 2"\n')
    payload = {"hook_event_name": "PreToolUse", "session_id": "s", "cwd": str(project.path), **TOOL}
    for depth in ("99", "-1", "x"):
        done = project.run("hook", "--agent", "claude", "--cold", stdin=json.dumps(payload), HOOKLINE_DEPTH=depth)
        assert done.json["hookSpecificOutput"]["permissionDecision"] == "deny", depth
    assert project.fire("PreToolUse", TOOL, HOOKLINE_DEPTH="99").code == 64
