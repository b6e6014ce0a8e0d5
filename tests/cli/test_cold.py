"""What a call without a daemon does not pay for."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.cli.conftest import Project

PAYLOAD = {
    "session_id": "s", "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls -l"},
    "tool_use_id": "toolu_1",
}  # fmt: skip
CALL = ("hook", "--agent", "claude-code", "--cold")
HEAVY = {"re", "enum", "json", "threading", "typing", "dataclasses", "argparse", "asyncio", "signal", "sqlite3"}
HOOK = '[[hook]]\nname = "guard"\non = "PreToolUse"\nmatch = "{tool}"\nrun = "true"\n'


def imported(project: Project) -> set[str]:
    """By a call that finds what the one before has left."""
    payload = json.dumps({**PAYLOAD, "cwd": str(project.path)})
    project.run(*CALL, stdin=payload)
    result = project.run(*CALL, stdin=payload, PYTHONPROFILEIMPORTTIME="1")
    assert (result.code, result.out) == (0, "")
    return {line.rpartition("|")[2].strip() for line in result.err.splitlines()}


def hooks_of_the_person(project: Project, text: str) -> None:
    file = project.home / ".config" / "hookline" / "hookline.toml"
    file.parent.mkdir(parents=True)
    file.write_text(text)


def test_an_event_that_no_hook_wants_loads_nothing_heavy(project: Project) -> None:
    hooks_of_the_person(project, HOOK.format(tool="Edit|Write"))
    assert imported(project) & HEAVY == set()


def test_a_command_that_says_nothing_loads_nothing_heavy(project: Project) -> None:
    hooks_of_the_person(project, HOOK.format(tool="Bash"))
    loaded = imported(project)
    assert "hookline.runners.process" in loaded
    assert loaded & HEAVY == set()


def test_the_next_call_reads_no_long_log_of_sessions(project: Project) -> None:
    state = project.home / ".local" / "state" / "hookline"
    project.run(*CALL, stdin=json.dumps(PAYLOAD))
    code = (
        "import os, sys; from hookline.state.sessions.sqlite import StoredSessions\n"
        "kept = StoredSessions(sys.argv[1], brief=True)\n"
        "for number in range(200): kept.begin(f's{number}', 'Stop', typed=False)\n"
        "os._exit(0)"
    )
    subprocess.run([sys.executable, "-c", code, str(state / "sessions.db")], check=True)
    assert size(state / "sessions.db-wal") > 1 << 19
    project.run(*CALL, stdin=json.dumps(PAYLOAD))
    assert size(state / "sessions.db-wal") < 1 << 19


def size(path: Path) -> int:
    return path.stat().st_size if path.exists() else 0
