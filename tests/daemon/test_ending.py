"""``hookline daemon stop`` ends any daemon, and nothing else."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import pytest
from tests.patience import freeze

from hookline.daemon import lifecycle
from hookline.daemon.protocol import DaemonPaths
from hookline.runners.spawn import start_time

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from .conftest import Machine

STOP = [sys.executable, "-m", "hookline", "daemon", "stop"]


def test_a_daemon_that_is_frozen_is_killed_and_that_is_said(one_machine: Machine) -> None:
    daemon = one_machine.start()
    freeze(daemon.pid)

    told = one_machine.run(STOP)

    assert daemon.wait(60) == -signal.SIGKILL
    assert told == (
        0, f"stopped by SIGKILL, because it did not answer (process {daemon.pid}); its records are kept\n".encode(), b"",
    )  # fmt: skip
    assert one_machine.run(STOP) == (0, b"not running\n", b"")


def test_a_daemon_that_listens_is_asked(one_machine: Machine) -> None:
    daemon = one_machine.start()
    told = one_machine.run([*STOP, "--json"])
    assert daemon.wait(60) == 0
    assert (told.code, json.loads(told.out)["ended"]) == (0, "asked")


def test_a_daemon_of_another_version_is_told_by_a_signal(one_machine: Machine) -> None:
    """It refuses our questions, and finishes what it does all the same."""
    daemon = one_machine.start()
    code = (
        "import sys, hookline\nhookline.__version__ = '0.0.1'\n"
        "from hookline.cli import main\nsys.exit(main(['daemon', 'stop']))\n"
    )
    told = one_machine.run([sys.executable, "-c", code])
    assert daemon.wait(60) == 0
    assert (told.code, told.out.startswith(b"stopped by SIGTERM")) == (0, True)


def test_starting_beside_one_that_does_not_answer_says_what_to_do(one_machine: Machine) -> None:
    daemon = one_machine.start()
    freeze(daemon.pid)

    told = one_machine.run([*STOP[:-1], "start"])

    assert (told.code, b"does not answer; stop it with: hookline daemon stop" in told.err) == (74, True)
    assert lifecycle.stop(one_machine.place, grace=0.1)[0] == "killed"


def test_a_daemon_that_nobody_can_find_any_more_ends(one_machine: Machine) -> None:
    """It would keep the journal from the one that is found."""
    daemon = one_machine.start()
    os.unlink(one_machine.place.socket)
    assert daemon.wait(60) == 0


def test_a_daemon_ends_when_another_hookline_is_installed_in_its_place(one_machine: Machine) -> None:
    """An upgrade may close a hole in a guard, and the client of before would go on asking the daemon of before."""
    package = one_machine.root / "__init__.py"
    package.touch()
    code = (
        f"import sys, hookline\nhookline.__file__ = {str(package)!r}\n"
        "from hookline.cli import main\nsys.exit(main(['daemon', 'run']))\n"
    )
    daemon = subprocess.Popen([sys.executable, "-c", code], env=one_machine.environ(), stdin=subprocess.DEVNULL)
    one_machine.wait_for(lambda: lifecycle.ask(one_machine.place, "status") is not None)

    package.unlink()

    assert daemon.wait(60) == 0


@pytest.mark.parametrize("name", ["daemon.lock", "daemon.sock"])
def test_what_is_in_the_way_of_a_daemon_is_named(one_machine: Machine, name: str) -> None:
    folder = os.path.join(one_machine.place.directory, name)
    os.makedirs(folder, mode=0o700)
    told = one_machine.run([*STOP[:-1], "run"])
    assert (told.code, told.err.startswith(f"hookline: {folder} cannot be used: ".encode())) == (74, True)
    assert b"Traceback" not in told.err


def test_one_in_the_background_is_not_begun_where_it_could_tell_nobody(one_machine: Machine) -> None:
    os.makedirs(one_machine.place.lock, mode=0o700)
    told = one_machine.run([*STOP[:-1], "start"])
    assert (told.code, f"{one_machine.place.lock} cannot be used".encode() in told.err) == (74, True)


@pytest.fixture
def other() -> Iterator[subprocess.Popen[bytes]]:
    """A process that has nothing to do with us."""
    with subprocess.Popen(["sleep", "60"]) as process:
        yield process
        process.kill()


@pytest.mark.parametrize("then", ["", " 1", " nonsense"])
def test_a_process_that_only_has_the_number_is_left_alone(
    then: str, other: subprocess.Popen[bytes], tmp_path: Path
) -> None:
    place = DaemonPaths(directory=str(tmp_path / "hookline"))
    lock = lifecycle.acquire_lock(place)
    assert lock is not None
    os.pwrite(lock, f"{other.pid}{then}\n".encode(), 0)

    ended = lifecycle.stop(place, wait=0.1, grace=0.1)

    os.close(lock)
    assert (ended, other.poll()) == (("alive", 0), None)


def test_a_lock_that_nobody_holds_is_nobodys(other: subprocess.Popen[bytes], tmp_path: Path) -> None:
    place = DaemonPaths(directory=str(tmp_path / "hookline"))
    os.mkdir(place.directory, 0o700)
    with open(place.lock, "w") as file:
        file.write(f"{other.pid} {start_time(other.pid)}\n")
    assert (lifecycle.stop(place), other.poll()) == (("not running", 0), None)


def test_a_daemon_that_could_not_sign_is_known_by_its_socket(one_machine: Machine) -> None:
    daemon = one_machine.start()
    os.truncate(one_machine.place.lock, 0)
    assert lifecycle.lock_holder(one_machine.place) == daemon.pid


def test_a_signature_does_not_depend_on_what_was_there(tmp_path: Path) -> None:
    place = DaemonPaths(directory=str(tmp_path / "hookline"))
    lock = lifecycle.acquire_lock(place)
    assert lock is not None
    os.pwrite(lock, b"x" * 100, 0)
    lifecycle.write_pid(lock)
    assert lifecycle.lock_holder(place) == os.getpid()
    fcntl.flock(lock, fcntl.LOCK_UN)
    os.close(lock)
