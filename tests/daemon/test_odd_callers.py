"""Callers that hand over streams and signals as nobody should: the answer is right, or it is a failure that is seen."""

from __future__ import annotations

import json
import os
import select
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING, Any

import pytest

from .conftest import PAYLOAD, Machine
from .test_daemon import DENY

if TYPE_CHECKING:
    from collections.abc import Callable

SENT = json.dumps({**PAYLOAD, **DENY}).encode()
COMMAND = [sys.executable, "-m", "hookline"]


@pytest.fixture(params=["client", "command"])
def caller(request: pytest.FixtureRequest, machine: Machine) -> Machine:
    """Each of the clients, and hookline itself."""
    if request.param == "command":
        if machine.client[0] != sys.executable:
            pytest.skip("once is enough")
        machine.client = COMMAND
    machine.guarded()
    return machine


def called(machine: Machine, *words: str, line: tuple[str, ...] = (), daemon: str = "off", **given: Any) -> Any:
    given = {"input": SENT, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "timeout": 100, **given}
    program = [*line, *machine.client, "hook", "--agent", "claude-code", "--deadline", "60", *words]
    return subprocess.run(
        program, cwd=machine.project, env=machine.environ(HOOKLINE_DAEMON=daemon), check=False, **given
    )


@pytest.mark.parametrize("daemon", ["off", "if running"])
@pytest.mark.parametrize("where", ["full", "gone", "closed"])
def test_an_answer_that_cannot_be_told_is_a_failure(caller: Machine, where: str, daemon: str) -> None:
    """It would be taken for one that says nothing."""
    if daemon != "off":
        caller.start()
    reading, writing = os.pipe()
    os.close(reading)
    full = os.open("/dev/full", os.O_WRONLY)
    given: dict[str, Any] = {"stdout": full if where == "full" else writing}
    if where == "closed":
        given["line"] = ("sh", "-c", 'exec "$@" >&-', "sh")
    codes = [called(caller, *words, daemon=daemon, **given).returncode for words in (("--on-failure", "deny"), ())]
    os.close(writing)
    os.close(full)
    assert codes[0] == 2
    assert codes[1] in {74, 75}


#: Swallows everything that is raised in it, so only the end of the process ends it.
DEAF = """\
import time
def judge(event):
    while True:
        try:
            time.sleep(60)
        except BaseException:
            pass
"""


def test_what_is_said_at_the_deadline_and_cannot_be_told_is_a_failure_too(one_machine: Machine) -> None:
    one_machine.client = COMMAND
    one_machine.user('[[hook]]\nname = "h"\non = "PreToolUse"\npython = "h:judge"\n', h=DEAF)
    with open("/dev/full", "wb") as full:
        told = called(one_machine, "--on-failure", "deny", "--deadline", "1", stdout=full)
    assert told.returncode == 2


def ignoring_children() -> None:
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)


def blocking_everything() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, set(signal.Signals) - {signal.SIGKILL, signal.SIGSTOP})


def test_a_caller_that_ignores_its_children_is_told_how_ours_ended(caller: Machine) -> None:
    told = called(caller, "--on-failure", "deny", input=b"garbage", preexec_fn=ignoring_children)
    assert told.returncode == 2
    caller.user('[[hook]]\nname = "no"\non = "PreToolUse"\nshell = "echo never >&2; exit 2"\n')
    told = called(caller, preexec_fn=ignoring_children)
    assert b"never" in told.stdout


def test_a_daemon_hears_signals_whatever_its_first_client_had_blocked(machine: Machine) -> None:
    machine.guarded()
    called(machine, daemon="auto", preexec_fn=blocking_everything)
    machine.wait_for(lambda: machine.status()["running"])
    os.kill(machine.status()["pid"], signal.SIGTERM)
    machine.wait_for(lambda: not machine.status()["running"])


def test_the_deadline_holds_for_a_caller_that_blocks_signals_and_never_ends_its_input(machine: Machine) -> None:
    reading, writing = os.pipe()
    words = ("--on-failure", "deny", "--deadline", "0.5")
    told = called(machine, *words, input=None, stdin=reading, preexec_fn=blocking_everything)
    os.close(reading)
    os.close(writing)
    assert (told.returncode, told.stderr) == (2, b"hookline failed: no answer in time\n")


@pytest.mark.parametrize("daemon", ["off", "if running"])
def test_streams_that_do_not_wait_are_waited_for(caller: Machine, daemon: str) -> None:
    much = 300_000  # more than a pipe holds
    caller.user(
        '[[hook]]\nname = "g"\non = "PreToolUse"\npython = "g:judge"\n',
        g=f"def judge(event):\n    return {{'effect': 'deny', 'reason': 'x' * {much}}}\n",
    )
    if daemon != "off":
        caller.start()
    (sent, sending), (reading, told) = os.pipe(), os.pipe()
    os.set_blocking(sent, False)
    os.set_blocking(told, False)
    heard: list[bytes] = []

    def later(work: Callable[[], object]) -> threading.Timer:
        timer = threading.Timer(0.3, work)
        timer.start()
        return timer

    def speak() -> None:
        os.write(sending, SENT)
        os.close(sending)

    timers = [
        later(speak),
        later(lambda: heard.extend(iter(lambda: os.read(reading, 1 << 16), b""))),
    ]
    done = called(caller, daemon=daemon, input=None, stdin=sent, stdout=told)
    os.close(told)
    for timer in timers:
        timer.join()
    os.close(sent)
    os.close(reading)
    assert (done.returncode, len(json.loads(b"".join(heard))["hookSpecificOutput"]["permissionDecisionReason"])) == (
        0,
        much,
    )


def test_a_daemon_keeps_nothing_that_its_first_client_had_open(machine: Machine) -> None:
    """A lock that an agent is run under, or a pipe that somebody reads to its end, ends with the agent."""
    machine.guarded()
    reading, writing = os.pipe()

    called(machine, daemon="auto", pass_fds=(writing,))
    machine.wait_for(lambda: machine.status()["running"])
    os.close(writing)

    ended = select.select([reading], [], [], 10)[0]
    os.close(reading)
    assert ended
