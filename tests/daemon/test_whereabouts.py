"""Where clients look for the daemon, and that nothing is left where none can be."""

from __future__ import annotations

import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from hookline.daemon.protocol import LONGEST, DaemonPaths

from .conftest import Machine


@pytest.mark.parametrize("home", [None, "", "elsewhere"], ids=["unset", "empty", "relative"])
def test_without_a_home_no_daemon_is_looked_for_and_none_is_started(machine: Machine, home: str | None):
    before = os.path.lexists("/.local")
    environ = {"PATH": os.environ["PATH"]} | ({} if home is None else {"HOME": home})
    # Help, since anything else would be looked up in the home of whoever runs the tests.
    line = [*machine.client, "hook", "--agent", "claude-code", "--help"]

    told = subprocess.run(
        line, input=b"", cwd=machine.project, env=environ, capture_output=True, timeout=60, check=False
    )

    assert (told.returncode, told.stderr, os.listdir(machine.project)) == (0, b"", [".git"])
    assert os.path.lexists("/.local") == before


def _move(machine: Machine, length: int) -> None:
    """To a runtime directory in which the socket's path has this length."""
    base = f"{machine.root}/"
    machine.runtime = Path(base + "d" * (length - len(base) - len("/hookline/daemon.sock")))
    machine.runtime.mkdir(mode=0o700)
    machine.place = DaemonPaths(directory=str(machine.runtime / "hookline"))


def test_the_longest_name_of_a_socket_is_the_same_for_all(machine: Machine):
    machine.guarded()
    _move(machine, LONGEST)
    machine.start()

    before = machine.status()["requests"]
    answer = machine.ask()

    assert (answer, machine.status()["requests"]) == (machine.cold(), before + 2)


def test_where_the_name_would_be_too_long_nothing_is_started(machine: Machine):
    machine.guarded()
    _move(machine, LONGEST + 1)

    answer = machine.ask()

    assert (answer, os.listdir(machine.runtime)) == (machine.cold(), [])


def test_a_daemon_with_a_crowd_at_its_door_is_there_and_no_other_is_started(machine: Machine):
    machine.guarded()
    crowd = []
    with machine.listening(lambda _: None):
        while True:
            one = socket.socket(socket.AF_UNIX)
            one.setblocking(False)
            crowd.append(one)
            try:
                one.connect(machine.place.socket)
            except BlockingIOError:
                break
        answer = machine.ask()
    for one in crowd:
        one.close()

    assert (answer, os.path.exists(machine.place.starting)) == (machine.cold(), False)


def test_a_start_that_lies_in_the_future_is_none(machine: Machine):
    """The clock was set back since."""
    machine.guarded()
    os.mkdir(machine.place.directory, mode=0o700)
    Path(machine.place.starting).touch()
    tomorrow = time.time() + 86_400
    os.utime(machine.place.starting, (tomorrow, tomorrow))

    machine.ask()

    machine.wait_for(lambda: machine.status()["running"])
