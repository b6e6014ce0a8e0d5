"""A daemon that is stopped in its tracks: its clients do without it, and nothing happens twice when it goes on."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time

from tests.patience import freeze

import hookline
from hookline.daemon.protocol import Caller, DaemonRequest, pack_request

from .conftest import PAYLOAD, Machine

COUNTING = '[[hook]]\nname = "no"\non = "PreToolUse"\non_failure = "deny"\nshell = "echo x >> {file}; {end}"\n'


def frozen(machine: Machine, end: str) -> None:
    machine.user(COUNTING.format(file=machine.root / "count", end=end))
    daemon = machine.start()
    freeze(daemon.pid)


def go_on(machine: Machine) -> None:
    assert machine.daemon is not None
    os.kill(machine.daemon.pid, signal.SIGCONT)
    machine.wait_for(lambda: machine.status()["running"])


def test_a_frozen_daemon_costs_two_seconds_and_no_decision(machine: Machine) -> None:
    frozen(machine, "exit 7")
    began = time.monotonic()
    try:
        told = machine.ask(None, "--deadline", "90", "--on-failure", "deny", "--registration", "user/claude-code")
    finally:
        took = time.monotonic() - began
        go_on(machine)
    said = json.loads(told.out)["hookSpecificOutput"]
    assert said["permissionDecision"] == "deny"
    assert said["permissionDecisionReason"].startswith("hook failed: exit code 7 (")
    assert took < 45
    assert machine.ask({"hook_event_name": "PostToolUse", "tool_output": ""}).code == 0
    assert (
        machine.root / "count"
    ).read_text() == "x\n"  # whoever hung up is not answered, so its hooks do not run again


def test_the_ordinary_command_does_without_a_frozen_daemon_too(one_machine: Machine) -> None:
    one_machine.client = [sys.executable, "-m", "hookline"]
    frozen(one_machine, "sleep 300")
    began = time.monotonic()
    try:
        told = one_machine.ask(None, "--deadline", "8", "--on-failure", "deny")
    finally:
        took = time.monotonic() - began
        go_on(one_machine)
    assert json.loads(told.out)["hookSpecificOutput"]["permissionDecision"] == "deny"
    assert b"failed" in told.out
    assert took < 45


SLOW = "import time\n\n\ndef judge(event):\n    if event.data['tool_input']['command'] == 'slow':\n        time.sleep(90)\n"


def test_who_was_heard_together_with_a_slow_one_is_answered_before_it(one_machine: Machine) -> None:
    """Answers are handed out together, but not to the price of the slowest."""
    one_machine.user('[[hook]]\nname = "h"\non = "PreToolUse"\npython = "slow:judge"\n', slow=SLOW)
    daemon = one_machine.start()
    for _ in range(3):  # now it is known to be quick
        assert one_machine.ask().code == 0
    freeze(daemon.pid)
    commands = ("ls", "ls", "slow", "ls", "ls")
    try:
        asking = [_asked(one_machine, command) for command in commands]
    finally:
        os.kill(daemon.pid, signal.SIGCONT)
    began = time.monotonic()
    for command, sock in zip(commands, asking, strict=True):
        if command == "ls":
            assert sock.recv(13).lstrip(b"A")[:1] == b"R"
    assert time.monotonic() - began < 45
    for sock in asking:
        sock.close()


def _asked(machine: Machine, command: str) -> socket.socket:
    """A client that has said everything."""
    caller = Caller(
        version=hookline.__version__, kind="hook", cwd=str(machine.project), argv=("--agent", "claude-code"),
        environ=machine.environ(),
    )  # fmt: skip
    stdin = json.dumps({**PAYLOAD, "tool_input": {"command": command}}).encode()
    sock = socket.socket(socket.AF_UNIX)
    sock.settimeout(60)
    sock.connect(machine.place.socket)
    sock.sendall(pack_request(DaemonRequest(caller=caller, stdin=stdin)))
    return sock
