"""A state directory, a registration and a running daemon of the version before the house was rebuilt work on."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest
from tests.patience import eventually

if TYPE_CHECKING:
    from pathlib import Path

    from tests.compat.conftest import Installation

#: One hook of every kind, and every table that an approval covers.
PROJECT = """
[[hook]]
name = "guard"
on = "PreToolUse"
match = "Bash"
run = "./guard.sh"
on_failure = "deny"
budget = "5s"
over_budget = "report"

[[hook]]
name = "shell"
on = "PostToolUse"
shell = "true"
mode = "background"
match = { tool_name = "Bash", "tool_input.command" = "^ls" }
when = { once_per_session = true, every_n_turns = 2, max_per_minute = 5, message_contains = ["x"], cwd = ["/**"] }
env = { A = "b" }

[[hook]]
name = "function"
on = "UserPromptSubmit"
python = "mine:speak"
cache = "1m"
inject = "context"

[[hook]]
name = "post"
on = "Notification"
http = { url = "https://example.invalid/x", headers = { X = "y" } }

[[hook]]
name = "prompt"
on = "PreToolUse"
match = "Never"
prompt = "May it? $ARGUMENTS"

[[hook]]
name = "asks"
on = "SubagentStop"
agent = { prompt = "Is it done?", tools = ["read_file"] }
flow = "parallel"
order = 3

[[hook]]
name = "stays"
on = "PreCompact"
plugin = "stays.py"

[hooks.session_start]
scripts = ["context-inject"]

[hooks.session_stop]
scripts = ["session-export"]

[hooks.session_end]
scripts = ["compound-loop", "session-end"]

[hooks.pre_compact]
scripts = ["pre-compact"]
"""
GUARD = '#!/bin/sh\nif grep -q forbidden; then echo "no: forbidden" >&2; exit 2; fi\nexit 0\n'
MINE = 'def speak(event):\n    return {"context": "spoken"}\n'
USER = '[[hook]]\nname = "mine"\non = "Stop"\nshell = "true"\n'


def payload(machine: Installation, command: str, number: int) -> str:
    return json.dumps(
        {
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": command},
            "session_id": "s1", "cwd": str(machine.project), "tool_use_id": f"toolu_{number}",
        }
    )  # fmt: skip


@pytest.fixture
def used(machine: Installation) -> Installation:
    """The old version was used: hooks approved, one switched off, events recorded."""
    machine.write("project/.hookline/hookline.toml", PROJECT)
    machine.write("project/guard.sh", GUARD, mode=0o755)
    machine.write("project/mine.py", MINE)
    machine.write("home/.config/hookline/hookline.toml", USER)
    machine.write("project/stays.py", "import sys\nsys.exit(0)\n", mode=0o755)
    assert "0 errors, 0 warnings" in (found := machine.hookline("check")), found
    machine.hookline("trust", "--yes")
    machine.hookline("hooks", "off", "shell")
    machine.hookline("fire", "PreToolUse", "--data", '{"tool_name": "Bash", "tool_input": {"command": "forbidden"}}')
    return machine


def registered(machine: Installation) -> str:
    """The command line in Claude Code's file, as the agent gives it to its shell."""
    hooks = json.loads((machine.home / ".claude/settings.json").read_text())["hooks"]
    return str(hooks["PreToolUse"][-1]["hooks"][0]["command"])


def ask(machine: Installation, line: str, command: str = "forbidden", number: int = 1) -> tuple[int, str]:
    done = machine.call(["/bin/sh", "-c", line], payload(machine, command, number))
    return done.returncode, done.stdout + done.stderr


def is_refused(answer: tuple[int, str]) -> bool:
    return "no: forbidden" in answer[1]


def test_approvals_switches_and_records_stay(used: Installation) -> None:
    before = used.tree("trust", "--list")
    hooks = {row["hook"]: row["state"] for row in used.tree("trust")["hooks"]}
    listed = used.tree("list")
    log = used.tree("log")
    assert set(hooks.values()) <= {"trusted"}, hooks
    used.upgrade()
    assert {row["hook"]: row["state"] for row in used.tree("trust")["hooks"]} == hooks
    assert used.tree("trust", "--list") == before
    for now, then in zip(used.tree("list")["hooks"], listed["hooks"], strict=True):
        assert {**now, "action": then["action"]} == then  # a built-in hook is shown with the module it lives in now
    assert used.tree("log") == log
    assert "switched off" in used.hookline("explain", "PostToolUse", "--data", '{"tool_input": {"command": "ls"}}')


def test_a_guard_that_was_approved_before_still_refuses(used: Installation) -> None:
    used.upgrade()
    answer = used.hookline("hook", "--agent", "claude-code", "--cold", stdin=payload(used, "forbidden", 1))
    assert json.loads(answer)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert "no: forbidden" in answer
    assert used.hookline("hook", "--agent", "claude-code", "--cold", stdin=payload(used, "ls", 2)) == ""


def test_built_in_hooks_that_were_approved_before_still_run(used: Installation) -> None:
    used.upgrade()
    data = json.dumps({"session_id": "s2", "source": "startup", "cwd": str(used.project)})
    told = used.tree("fire", "SessionStart", "--data", data, "--session", "s2")
    outcomes = {one["hook"]: one["status"] for one in told["outcomes"]}
    assert outcomes["context-inject"] in {"replied", "started"}, told


@pytest.mark.parametrize("door", ["client", "command"])
def test_a_registration_of_before_is_answered_and_replaced_once(used: Installation, door: str) -> None:
    if door == "client" and shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    used.hookline("deploy", "--agent", "claude-code", "--door", door)
    line = registered(used)
    used.upgrade()
    assert is_refused(ask(used, line))
    status = used.tree("deploy", "--status", "--agent", "claude-code")
    assert {row["state"] for row in status["agents"] if row["scope"] == "user"} == {"drift"}, status
    assert "registered" in used.hookline("deploy", "--agent", "claude-code", "--door", door)
    assert registered(used) != line
    assert is_refused(ask(used, registered(used)))
    assert "nothing to change" in used.hookline("deploy", "--agent", "claude-code")
    used.hookline("undeploy", "--agent", "claude-code")
    assert not (used.home / ".claude/settings.json").exists()


def twin(machine: Installation, package: Path) -> str:
    """The line that the manual told people to write by hand."""
    return f"{machine.python} -I -S {package}/shim/start.py hook --agent claude-code --event PreToolUse"


def test_the_path_of_the_python_client_stays(used: Installation) -> None:
    line = twin(used, used.site / "hookline")
    assert is_refused(ask(used, line))
    used.upgrade()
    assert is_refused(ask(used, line))


def daemon_answers(machine: Installation) -> bool:
    done = machine.call([str(machine.program), "daemon", "status", "--json"])
    return done.returncode == 0 and json.loads(done.stdout)["running"] is True


def test_todays_clients_get_the_answers_of_a_daemon_of_before(used: Installation) -> None:
    used.start_daemon()
    eventually(lambda: daemon_answers(used))
    assert is_refused(ask(used, twin(used, used.site / "hookline"), number=1))
    used.upgrade()
    assert daemon_answers(used), "its status can be read"
    assert is_refused(ask(used, twin(used, used.site / "hookline"), number=2))
    assert ask(used, twin(used, used.site / "hookline"), "ls", 3) == (0, "")
    # What it has not loaded before the files were replaced is run without it.
    used.write("home/.config/hookline/hookline.toml", USER.replace("Stop", "PreToolUse").replace("true", "exit 0"))
    assert is_refused(ask(used, twin(used, used.site / "hookline"), number=4))
    used.hookline("daemon", "stop")
    assert used.daemons[0].wait(60) == 0


def test_clients_of_before_get_the_answers_of_todays_daemon(used: Installation) -> None:
    old = used.root / "old/src/hookline"
    lines = [twin(used, old)]
    if shutil.which("cc") is not None:
        used.hookline("deploy", "--agent", "claude-code", "--door", "client")
        lines.append(registered(used))
    used.upgrade()
    used.start_daemon()
    eventually(lambda: daemon_answers(used))
    for number, line in enumerate(lines):
        assert is_refused(ask(used, line, number=number))
        assert ask(used, line, "ls", 10 + number) == (0, "")
    assert used.tree("daemon", "status")["requests"] >= 2 * len(lines)
