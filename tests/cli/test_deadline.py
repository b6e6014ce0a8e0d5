"""``hookline hook --deadline``: there is an answer by then, whatever hangs, and nothing is left running."""

from __future__ import annotations

import json
import os
import sqlite3
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

PAYLOAD = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "ls"}}
#: Swallows everything that is raised in it, so only the end of the process ends it.
DEAF = """\
import os, subprocess, time

def judge(event):
    child = subprocess.Popen(["sleep", "300"])
    with open(os.path.join(os.path.dirname(__file__), "pid"), "w") as file:
        file.write(str(child.pid))
    while True:
        try:
            while True:
                time.sleep(0.01)
        except BaseException:
            pass
"""


def hook(project: Any, *words: str, stdin: str | None = None) -> tuple[Any, float]:
    began = time.monotonic()
    payload = json.dumps({**PAYLOAD, "cwd": str(project.path)}) if stdin is None else stdin
    result = project.run("hook", "--agent", "claude-code", *words, stdin=payload, HOOKLINE_DAEMON="off")
    return result, time.monotonic() - began


def own(project: Any, text: str, **files: str) -> Path:
    folder = Path(project.home) / ".config/hookline"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "hookline.toml").write_text(text)
    for name, content in files.items():
        (folder / f"{name}.py").write_text(content)
    return folder


def alive(pid: str) -> bool:
    """A dead process that nobody has asked about has no command line any more."""
    command = Path(f"/proc/{pid}/cmdline")
    return command.exists() and bool(command.read_bytes())


def firings(project: Any) -> list[dict[str, Any]]:
    return [json.loads(line) for line in project.run("log", "--json").out.splitlines()]


def test_a_hook_has_what_is_left_of_the_deadline_and_fails_as_itself(project: Any, tmp_path: Path) -> None:
    own(
        project,
        f'[[hook]]\nname = "slow"\non = "PreToolUse"\nshell = "echo $$ > {tmp_path}/pid; sleep 300"\n'
        'timeout = 300\non_failure = "deny"\n',
    )
    result, seconds = hook(project, "--deadline", "5", "--on-failure", "deny")
    said = result.json["hookSpecificOutput"]
    assert (result.code, said["permissionDecision"], said["permissionDecisionReason"]) == (
        0, "deny", "hook failed: timeout (the hook 'slow'; its owner can switch it off for an hour: hookline hooks off slow --for 1h)",
    )  # fmt: skip
    assert seconds < 45
    assert not alive((tmp_path / "pid").read_text().strip())
    assert firings(project)[0]["outcomes"][0]["status"] == "timed-out"


def test_a_deny_that_was_said_survives_a_neighbour_that_hangs(project: Any) -> None:
    own(
        project,
        '[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "echo never >&2; exit 2"\nflow = "parallel"\n'
        '[[hook]]\nname = "slow"\non = "PreToolUse"\nshell = "sleep 300"\ntimeout = 300\nflow = "parallel"\n'
        'on_failure = "ignore"\n',
    )
    result, seconds = hook(project, "--deadline", "10")
    assert result.json["hookSpecificOutput"]["permissionDecisionReason"] == "never"
    assert seconds < 45


def test_a_background_hook_does_not_keep_the_answer_beyond_the_deadline(project: Any) -> None:
    own(
        project, '[[hook]]\nname = "late"\non = "PreToolUse"\nshell = "sleep 300"\nmode = "background"\ntimeout = 300\n'
    )
    result, seconds = hook(project, "--deadline", "5")
    assert (result.code, result.out) == (0, "")
    assert seconds < 45


@pytest.mark.parametrize(("policy", "code"), [("deny", 2), ("ignore", 75)])
def test_a_caller_that_never_ends_its_input_is_answered(project: Any, policy: str, code: int) -> None:
    line = [
        sys.executable,
        "-m",
        "hookline",
        "hook",
        "--agent",
        "claude-code",
        "--deadline",
        "1",
        "--on-failure",
        policy,
    ]
    environ = {"PATH": os.environ["PATH"], "HOME": str(project.home)}
    with subprocess.Popen(line, stdin=subprocess.PIPE, stderr=subprocess.PIPE, env=environ, cwd=project.path) as child:
        assert child.wait(60) == code
        assert child.stderr is not None
        assert b"hookline failed: there was no answer within 1 s" in child.stderr.read()


@pytest.mark.parametrize("policy", ["deny", "ignore"])
def test_what_hangs_in_hookline_itself_is_told_in_the_agents_words_and_recorded(project: Any, policy: str) -> None:
    """A function that nothing can end stands for it: its deadline is long over when ours is."""
    text = '[[hook]]\nname = "deaf"\non = "PreToolUse"\npython = "deaf:judge"\ntimeout = 5.9\n'
    folder = own(project, text, deaf=DEAF)
    result, seconds = hook(project, "--deadline", "6", "--on-failure", policy)
    assert seconds < 45
    assert "hookline failed" in result.err
    assert not alive((folder / "pid").read_text())
    if policy == "deny":
        said = result.json["hookSpecificOutput"]
        assert (result.code, said["permissionDecision"]) == (0, "deny")
        assert "hookline failed: there was no answer within 6 s" in said["permissionDecisionReason"]
    else:
        assert (result.code, result.out) == (0, "")
    (one,) = firings(project)
    assert (one["effect"], "hookline failed" in one["reason"]) == ("deny" if policy == "deny" else "allow", True)


@pytest.mark.parametrize(
    ("name", "deadline", "reason"),
    [("hookline.db", "4.5", "never"), ("sessions.db", "3", "hookline failed: there was no answer within 3 s")],
)
def test_a_database_that_somebody_has_locked_does_not_keep_the_answer(
    project: Any, name: str, deadline: str, reason: str
) -> None:
    """What was decided already is told, though it cannot be written down; what was not is a failure.

    A database is waited for five seconds, so the deadlines are nearer than that.
    """
    own(project, '[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "echo never >&2; exit 2"\n')
    hook(project, "--deadline", "60")  # makes them
    held = sqlite3.connect(Path(project.home) / ".local/state/hookline" / name, isolation_level=None)
    try:
        held.execute("BEGIN EXCLUSIVE")
        result, seconds = hook(project, "--deadline", deadline, "--on-failure", "deny")
    finally:
        held.close()
    assert result.json["hookSpecificOutput"]["permissionDecisionReason"].startswith(reason)
    assert seconds < 45


def test_what_no_parser_can_read_as_seconds_is_no_deadline(project: Any) -> None:
    own(project, '[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "echo never >&2; exit 2"\n')
    for word in ("soon", "nan", "-1", ""):
        result, _ = hook(project, f"--deadline={word}")
        assert result.json["hookSpecificOutput"]["permissionDecisionReason"] == "never"
