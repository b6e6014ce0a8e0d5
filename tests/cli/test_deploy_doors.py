"""The doors that deploy chooses from, what each needs, and what is said of it."""

from __future__ import annotations

import json
import os
import shutil
import subprocess

import pytest

GUARD = """
[[hook]]
name = "guard"
on = ["PreToolUse", "PostToolUse"]
run = "./guard.sh"
on_failure = "deny"
"""
COMPILER = pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")


def hooks_of(project, file=".claude/settings.json"):
    return json.loads((project.home / file).read_text())["hooks"]


def test_without_a_compiler_the_command_is_registered_and_the_faster_way_told(project):
    nowhere = str(project.path / "no-programs")
    done = project.run("deploy", "--agent", "claude", PATH=nowhere)
    assert "faster, with a C compiler: hookline deploy --door client" in done.out
    again = project.run("deploy", "--agent", "claude", "--json", PATH=nowhere)
    assert json.loads(again.out)["agents"][0]["door"] == "command"


@COMPILER
def test_with_a_compiler_the_client_is_built_and_a_dry_run_foretells_it(project):
    foretold = project.run("deploy", "--agent", "claude", "--dry-run").out
    done = project.run("deploy", "--agent", "claude")
    assert "through the native client" in done.out
    program = hooks_of(project)["PostToolUse"][0]["hooks"][0]["command"].split(" ")[0]
    assert program in foretold
    project.run("deploy", "--agent", "gemini")
    project.run("undeploy", "--agent", "claude")
    assert os.path.exists(program)
    project.run("undeploy", "--agent", "gemini")
    assert not os.path.exists(os.path.dirname(program))


def test_opencode_is_asked_over_the_socket(project):
    assert "over the daemon's socket" in project.run("deploy", "--agent", "opencode").out


@COMPILER
def test_the_client_is_built_registered_answers_and_is_the_choice_from_then_on(project):
    done = project.run("deploy", "--agent", "claude", "--door", "client")
    assert "through the native client" in done.out
    line = hooks_of(project)["PostToolUse"][0]["hooks"][0]["command"]
    program = line.split(" ")[0]
    assert program.endswith("/hookline/bin/hookline")
    assert os.access(program, os.X_OK)
    payload = {"hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": {}, "session_id": "s"}
    told = subprocess.run(
        ["/bin/sh", "-c", line], input=json.dumps(payload).encode(), capture_output=True, check=False, timeout=200,
        env={"HOME": str(project.home), "PATH": os.environ["PATH"], "HOOKLINE_DAEMON": "off"},
    )  # fmt: skip
    assert told.returncode == 0, told.stderr

    assert project.run("deploy", "--status", "--agent", "claude").code == 0
    assert "nothing to change" in project.run("deploy", "--agent", "claude").out
    # Others get it without being asked: it is there, and keeps every guarantee.
    assert "through the native client" in project.run("deploy", "--agent", "gemini").out
    project.run("undeploy", "--agent", "claude")
    assert not (project.home / ".claude/settings.json").exists()


@COMPILER
def test_a_client_of_another_version_is_built_anew(project):
    project.run("deploy", "--agent", "claude", "--door", "client")
    binary = project.home / ".local/share/hookline/bin/hookc"
    if not binary.exists():
        binary = next(project.home.parent.rglob("hookc"))
    binary.write_bytes(b"\x7fELF another")
    assert "through the native client" in project.run("deploy", "--agent", "gemini").out
    assert binary.stat().st_size > 1000
    binary.write_bytes(b"\x7fELF another")
    nowhere = str(project.path / "no-programs")
    assert "through the command hookline" in project.run("deploy", "--agent", "codex", PATH=nowhere).out


def test_a_dry_run_builds_nothing_and_leaves_no_token(project):
    project.run("deploy", "--agent", "claude", "--dry-run", "--door", "client")
    project.run("deploy", "--agent", "claude", "--dry-run", "--door", "http")
    assert not list(project.home.parent.rglob("hookc"))
    assert not list(project.home.parent.rglob("http.json"))


@pytest.mark.parametrize(("agent", "file"), [("claude", ".claude/settings.json"), ("qwen", ".qwen/settings.json")])
def test_only_what_cannot_be_refused_is_posted(project, agent, file):
    done = project.run("deploy", "--agent", agent, "--door", "http")
    assert "an agent whose post fails goes on" in done.out
    hooks = hooks_of(project, file)
    kinds = {event: listed[0]["hooks"][0]["type"] for event, listed in hooks.items()}
    assert kinds["PostToolUse"] == kinds["SessionEnd"] == "http"
    refusable = {"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop", "SessionStart"}
    assert {kinds[event] for event in refusable & set(kinds)} == {"command"}
    assert hooks["PostToolUse"][0]["hooks"][0]["url"].startswith("http://127.0.0.1:")
    assert "nothing to change" in project.run("deploy", "--agent", agent).out
    assert project.run("undeploy", "--agent", agent).code == 0
    assert "127.0.0.1" not in ((project.home / file).read_text() if (project.home / file).exists() else "")


def test_a_guard_keeps_its_command_even_where_nothing_can_be_refused(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("deploy", "--agent", "claude", "--door", "http")
    assert hooks_of(project)["PostToolUse"][0]["hooks"][0]["type"] == "command"


def test_the_token_is_in_no_file_of_a_project(project):
    project.run("deploy", "--agent", "claude", "--door", "http", "--scope", "project")
    assert "127.0.0.1" not in (project.path / ".claude/settings.json").read_text()


def test_agents_that_cannot_post_keep_their_command(project):
    done = project.run("deploy", "--agent", "codex", "--agent", "copilot", "--door", "http", "--json")
    assert {row["door"] for row in json.loads(done.out)["agents"]} <= {"command", "client"}


def test_the_choice_can_be_taken_back(project):
    project.run("deploy", "--agent", "claude", "--door", "http")
    project.run("deploy", "--agent", "claude", "--door", "command")
    assert "127.0.0.1" not in (project.home / ".claude/settings.json").read_text()
    assert "http" not in project.run("deploy", "--agent", "claude").out
