"""What an entry in an agent's file does, whatever the variables of its caller say, and which events have one."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

GUARD = '[[hook]]\nname = "guard"\non = "PreToolUse"\nshell = "echo not today >&2; exit 2"\n'
PAYLOAD = {"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "session_id": "s"}
DOORS = [
    pytest.param("client", marks=pytest.mark.skipif(shutil.which("cc") is None, reason="there is no C compiler")),
    "command",
]


def guarded(project, text: str = GUARD) -> None:
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def hooks_of(project, scope: str = "user"):
    base = project.home if scope == "user" else project.path
    return json.loads((base / ".claude/settings.json").read_text())["hooks"]


def line_of(project, event: str = "PreToolUse", scope: str = "user") -> str:
    return str(hooks_of(project, scope)[event][0]["hooks"][0]["command"])


def called(project, line: str, event: str = "PreToolUse", **environ: str) -> subprocess.CompletedProcess[str]:
    """As Claude Code runs it, without a daemon."""
    around = {"HOME": str(project.home), "PATH": os.environ["PATH"], "HOOKLINE_DAEMON": "off", **environ}
    return subprocess.run(
        ["/bin/sh", "-c", line], input=json.dumps({**PAYLOAD, "hook_event_name": event, "cwd": str(project.path)}), cwd=project.path, env=around,
        capture_output=True, text=True, timeout=100, check=False,
    )  # fmt: skip


def is_refused(done: subprocess.CompletedProcess[str], why: str = "not today") -> bool:
    """By the guard, and not because hookline failed."""
    if done.returncode or not done.stdout:
        return False
    told = json.loads(done.stdout)["hookSpecificOutput"]
    return told["permissionDecision"] == "deny" and why in told["permissionDecisionReason"]


# ── where the person's files are ─────────────────────────────────────────────────────────────────────

ELSEWHERE = [
    {"XDG_CONFIG_HOME": "/nonexistent"}, {"HOME": "/var/empty"}, {"XDG_STATE_HOME": "/nonexistent"},
    {"HOME": "", "XDG_CONFIG_HOME": "."}, {"HOOKLINE_CONFIG_DIR": "/nonexistent"}, {"CLAUDE_CONFIG_DIR": "/nonexistent"},
    {"XDG_RUNTIME_DIR": "/nonexistent"},
]  # fmt: skip


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize("environ", ELSEWHERE, ids=",".join)
def test_no_variable_makes_a_persons_guard_vanish(project, door, environ):
    guarded(project)
    assert project.run("deploy", "--agent", "claude", "--door", door).code == 0
    done = called(project, line_of(project), **environ)
    assert is_refused(done), done


def test_no_variable_takes_a_lectic_guard_away(project):
    guarded(project, '[[source]]\ndialect = "lectic"\n')
    lectic = project.home / ".config/lectic/lectic.yaml"
    lectic.parent.mkdir(parents=True)
    lectic.write_text("hooks:\n  - on: tool_use_pre\n    do: sh -c 'exit 1'\n")
    assert project.run("deploy", "--agent", "claude").code == 0
    assert is_refused(called(project, line_of(project)), "")
    assert is_refused(called(project, line_of(project), LECTIC_CONFIG="/nonexistent"), "")


def test_an_approval_counts_wherever_the_variables_point(project):
    project.write(".hookline/hookline.toml", GUARD)
    assert project.run("trust", "--yes").code == 0
    assert project.run("deploy", "--agent", "claude").code == 0
    done = called(project, line_of(project), XDG_STATE_HOME="/nonexistent", HOME="/var/empty")
    assert is_refused(done), done


# ── whose code runs ──────────────────────────────────────────────────────────────────────────────────

EVIL = "import pathlib; pathlib.Path({mark!r}).touch()\n"


@pytest.mark.parametrize("door", DOORS)
@pytest.mark.parametrize(
    "environ",
    [
        {"PYTHONPATH": "."}, {"PYTHONHOME": "."}, {"PYTHONSTARTUP": "./usercustomize.py"}, {"PATH": "."},
        {"HOME": "HERE", "PYTHONUSERBASE": "HERE/.local"}, {"LECTIC_RUNTIME": "."}, {"LECTIC_RUNTIME": "HERE"},
        {"LH_CONFIG_DIR": "evil"}, {"LH_CONFIG_DIR": "HERE/../evil"}, {"XDG_CONFIG_HOME": "/proc/self/cwd/../evil"},
        {"HOOKLINE_CONFIG_DIR": "evil"},
    ],
    ids=lambda one: ",".join(f"{name}={value}" for name, value in one.items()),
)  # fmt: skip
def test_nothing_that_a_repository_sets_runs_its_code(project, door, environ):
    guarded(project, GUARD + '[[source]]\ndialect = "lectic"\n')
    lectic = project.home / ".config/lectic/lectic.yaml"
    lectic.parent.mkdir(parents=True)
    lectic.write_text("imports:\n  - plugin: mine\n    optional: true\n")
    assert project.run("deploy", "--agent", "claude", "--door", door).code == 0
    mark = project.path / "ran"
    python = EVIL.format(mark=str(mark))
    version = f"python{sys.version_info[0]}.{sys.version_info[1]}"
    for place in ("", f".local/lib/{version}/site-packages/"):
        for name in ("hookline/__init__.py", "sitecustomize.py", "usercustomize.py", "site.py", "json.py"):
            project.write(place + name, python)
    for name in ("sh", "git", "python", "python3", "env"):
        project.write(name, f"#!/bin/sh\n/usr/bin/touch '{mark}'\n", mode=0o755)
    project.write("mine/lectic.yaml", f"hooks:\n  - on: tool_use_pre\n    do: /usr/bin/touch '{mark}'\n")
    hook = f'[[hook]]\nname = "evil"\non = "PreToolUse"\nrun = ["/usr/bin/touch", "{mark}"]\n'
    lazy = '[hooks.pre_tool_use]\nscripts = ["evil"]\n'
    for folder in (project.path / "evil", project.path.parent / "evil"):
        for name, text in (("hookline.toml", hook), ("hookline/hookline.toml", hook), ("config.toml", lazy)):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_text(text)
    here = {name: value.replace("HERE", str(project.path)) for name, value in environ.items()}
    done = called(project, line_of(project), **here)
    assert is_refused(done), done
    assert not mark.exists()


# ── which events have an entry, and what it says ─────────────────────────────────────────────────────


def test_one_guard_before_tools_costs_one_process_for_each_tool(project):
    guarded(project)
    project.run("deploy", "--agent", "claude")
    assert set(hooks_of(project)) == {"PreToolUse", "SessionStart"}


def test_the_text_of_an_entry_does_not_depend_on_hooks(project):
    guarded(project)
    project.run("deploy", "--agent", "codex")
    file = project.home / ".codex/hooks.json"
    before = file.read_text()
    guarded(project, GUARD + 'timeout = "90s"\non_failure = "deny"\n')
    assert "nothing to change" in project.run("deploy", "--agent", "codex").out
    assert file.read_text() == before


def test_a_dry_run_says_what_each_event_is_for(project):
    guarded(project, GUARD + '[[hook]]\nname = "third"\non = "Stop"\nshell = "true"\nwhen = { every_n_turns = 3 }\n')
    told = project.run("deploy", "--agent", "claude", "--dry-run").err
    assert "  PreToolUse: hook guard\n" in told
    assert "  SessionStart: to report at the start of a session what is wrong with a guard\n" in told
    assert "  UserPromptSubmit: to count turns for hook third\n" in told
    row = project.run("deploy", "--agent", "claude", "--dry-run", "--json").json["agents"][0]
    assert row["events"] == ["SessionStart", "UserPromptSubmit", "Stop", "PreToolUse"]
    assert row["why"]["Stop"] == ["hook third"]


def test_hooks_that_are_not_approved_cost_no_event(project):
    project.write(".hookline/hookline.toml", GUARD)
    told = project.run("deploy", "--agent", "claude")
    assert (told.code, "no hook listens to its events" in told.out) == (0, True)
    assert not (project.home / ".claude").exists()


def test_an_entry_stays_while_the_hooks_cannot_be_loaded(project):
    guarded(project)
    project.run("deploy", "--agent", "claude")
    before = hooks_of(project)
    guarded(project, "[[hook")
    project.run("deploy", "--agent", "claude")
    assert hooks_of(project) == before


def test_a_projects_file_is_the_same_for_everybody(project):
    project.write(".hookline/hookline.toml", GUARD)
    assert project.run("trust", "--yes").code == 0
    project.run("deploy", "--agent", "claude", "--scope", "project")
    text = (project.path / ".claude/settings.json").read_text()
    assert line_of(project, scope="project").startswith("hookline hook --agent claude-code --event PreToolUse")
    assert line_of(project, "SessionStart", "project").startswith("exec hookline hook ")
    assert str(project.home) not in text
    assert str(project.path) not in text
    assert "pip install hookline" in text
    assert ".claude/settings.json" in text


def test_deploying_over_old_entries_replaces_them_and_undeploy_gives_the_bytes_back(project):
    guarded(project)
    file = project.home / ".claude/settings.json"
    file.parent.mkdir()
    file.write_text('{\n  "model": "opus" // mine\n}\n')
    old = "/opt/bin/hookline hook --agent claude-code --event {} --registration user/claude-code --deadline 60"
    project.run("deploy", "--agent", "claude")
    now = json.loads(file.read_text().replace(" // mine", ""))
    for event in ("PreToolUse", "PostToolUse", "Stop"):
        now["hooks"][event] = [{"hooks": [{"type": "command", "command": old.format(event), "timeout": 70}]}]
    file.write_text(json.dumps(now))
    project.run("deploy", "--agent", "claude")
    assert set(hooks_of(project)) == {"PreToolUse", "SessionStart"}
    assert "--deadline" not in file.read_text()
    project.run("undeploy", "--agent", "claude")
    assert json.loads(file.read_text()) == {"model": "opus"}


def test_a_hook_whose_event_is_not_registered_is_reported(project):
    guarded(project)
    project.run("deploy", "--agent", "claude")
    guarded(project, GUARD + '[[hook]]\nname = "later"\non = "Stop"\nshell = "true"\n')
    finding, fix = "Claude Code does not call hookline for Stop (hook later)", "hookline deploy --agent claude-code"
    for command in ("check", "list", "status", "trust"):
        told = project.run(command)
        assert finding in told.out + told.err, command
        assert fix in told.out + told.err, command
    start = called(project, line_of(project, "SessionStart"), "SessionStart")
    assert f"{finding}; to register it: {fix}" in json.loads(start.stdout)["systemMessage"]


def test_the_command_names_the_scope_in_which_hookline_is_registered(project):
    project.write(".hookline/hookline.toml", GUARD)
    project.run("trust", "--yes")
    project.run("deploy", "--agent", "claude", "--scope", "project")
    project.write(".hookline/hookline.toml", GUARD + '[[hook]]\nname = "later"\non = "Stop"\nshell = "true"\n')
    assert "hookline deploy --agent claude-code --scope project" in project.run("trust", "--yes").err


def test_a_hook_on_an_event_that_no_registered_agent_fires_is_reported(project):
    guarded(project, GUARD + '[[hook]]\nname = "batch"\non = "PostToolBatch"\nshell = "true"\n')
    project.run("deploy", "--agent", "codex")
    finding = "none of the registered agents (Codex) fires PostToolBatch (hook batch)"
    for command in ("check", "list", "status", "trust"):
        told = project.run(command)
        assert finding in told.out + told.err, command
    project.run("deploy", "--agent", "claude")
    assert "PostToolBatch" not in project.run("check").out
