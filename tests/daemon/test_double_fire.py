"""The same event through two registrations, across processes: cold, and through the daemon by either client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from .conftest import PAYLOAD, Machine

COUNTING = """\
[[hook]]
name = "counting"
on = "PreToolUse"
shell = '''echo x >> "{file}"; {then}; echo '{{"effect": "deny", "reason": "no", "context": ["told"]}}' '''
"""
CALL = {"tool_use_id": "t1"}


@pytest.fixture(params=["cold", "daemon"])
def counted(request: pytest.FixtureRequest, machine: Machine) -> Machine:
    """A hook that leaves a line in ``count`` each time."""
    counting(machine)
    if request.param == "daemon":
        machine.start()
    else:
        machine.client = [sys.executable, "-m", "hookline"]
    return machine


def counting(machine: Machine, then: str = ":") -> None:
    machine.user(COUNTING.format(file=machine.root / "count", then=then))


def until_told(machine: Machine) -> str:
    """What a hook does until ``told`` is there, or the whole machine is gone."""
    return f"while [ -d {machine.root} -a ! -e {machine.root}/told ]; do sleep 0.05; done"


def runs(machine: Machine) -> int:
    count: Path = machine.root / "count"
    return len(count.read_text().splitlines()) if count.exists() else 0


def begin(machine: Machine, registration: str, agent: str = "claude-code", **payload: Any) -> subprocess.Popen[bytes]:
    child = subprocess.Popen(
        [*machine.client, "hook", "--agent", agent, "--registration", registration, "--deadline", "90"],
        cwd=machine.project, env=machine.environ(), stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    assert child.stdin is not None
    child.stdin.write(json.dumps({**PAYLOAD, **payload}).encode())
    child.stdin.close()
    child.stdin = None
    return child


def test_hooks_run_once_and_both_are_told_the_same(counted: Machine) -> None:
    children = [begin(counted, name, **CALL) for name in ("user/claude-code", "project/claude-code")]
    answers = [child.communicate(timeout=100)[0] for child in children]
    assert answers[0] == answers[1]
    assert json.loads(answers[0])["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert runs(counted) == 1
    (one,) = counted.recorded()
    (note,) = one["ignored"]
    assert all(name in note["text"] for name in ("user/claude-code", "project/claude-code", "ran once"))


def test_equal_calls_through_one_registration_are_two_events(counted: Machine) -> None:
    for _ in range(2):
        begin(counted, "user/claude-code", **CALL).communicate(timeout=100)
    assert (runs(counted), len(counted.recorded())) == (2, 2)


def test_each_asker_is_told_in_its_own_words(counted: Machine) -> None:
    first, _ = begin(counted, "project/claude-code").communicate(timeout=100)
    theirs = {"sessionId": "s", "toolName": "bash", "toolArgs": PAYLOAD["tool_input"]}
    child = subprocess.run(
        [*counted.client, "hook", "--agent", "copilot-cli", "--event", "preToolUse", "--registration", "user/copilot-cli"],
        input=json.dumps(theirs).encode(), cwd=counted.project, env=counted.environ(), capture_output=True, check=False,
    )  # fmt: skip
    assert json.loads(first)["hookSpecificOutput"]["permissionDecisionReason"] == "no"
    assert json.loads(child.stdout)["permissionDecisionReason"] == "no"
    assert runs(counted) == 1


def test_if_the_first_one_is_killed_the_second_runs(one_machine: Machine) -> None:
    counting(one_machine, until_told(one_machine))
    one_machine.client = [sys.executable, "-m", "hookline"]
    first = begin(one_machine, "user/claude-code", **CALL)
    one_machine.wait_for(lambda: runs(one_machine) == 1)
    counting(one_machine)
    second = begin(one_machine, "project/claude-code", **CALL)
    time.sleep(0.3)  # so that it is waiting
    os.kill(first.pid, signal.SIGKILL)
    first.communicate(timeout=100)
    assert b"deny" in second.communicate(timeout=100)[0]
    assert runs(one_machine) == 2


def test_a_daemon_that_waits_for_the_first_answers_others_meanwhile(one_machine: Machine) -> None:
    counting(one_machine, until_told(one_machine))
    one_machine.start()
    first = begin(one_machine, "user/claude-code", **CALL)
    one_machine.wait_for(lambda: runs(one_machine) == 1)
    second = begin(one_machine, "project/claude-code", **CALL)
    other = one_machine.ask({"hook_event_name": "PostToolUse", "tool_output": "x"})
    assert (other.code, first.poll(), second.poll()) == (0, None, None)
    (one_machine.root / "told").touch()
    assert first.communicate(timeout=100)[0] == second.communicate(timeout=100)[0]
    assert runs(one_machine) == 1
