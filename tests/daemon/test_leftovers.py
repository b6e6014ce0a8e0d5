"""What a daemon that was killed has left running comes to an end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookline.runners.plugin.sockets import SocketDirectory, mark, sweep
from hookline.runners.spawn import start_time

from .test_daemon import DENY

if TYPE_CHECKING:
    from collections.abc import Iterator

    from .conftest import Machine

#: Introduces itself, and then hears nothing any more, signals included.
HUNG = """\
#!/usr/bin/env python3
import json, os, signal, socket, sys, time
listening = socket.socket(socket.AF_UNIX)
listening.bind(sys.argv[1])
listening.listen(1)
lines = listening.accept()[0].makefile("rwb")
lines.readline()
lines.write(json.dumps({"type": "handshake_ok", "version": "1.0", "hooks": []}).encode() + b"\\n")
lines.flush()
signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(os.path.join(os.path.dirname(sys.argv[0]), "number"), "w") as file:
    file.write(str(os.getpid()))
while True:
    time.sleep(1000)
"""


@pytest.fixture
def stray() -> Iterator[subprocess.Popen[bytes]]:
    """A process that leads a group of its own and is in nobody's way."""
    one = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(1000)"], start_new_session=True)
    yield one
    one.kill()
    one.wait()


def test_a_plugin_that_hangs_does_not_outlive_the_next_daemon(one_machine: Machine) -> None:
    program, number = one_machine.home / "plugin", one_machine.home / "number"
    program.write_text(HUNG)
    program.chmod(0o755)
    one_machine.user(
        f'[[hook]]\nname = "hung"\non = "PreToolUse"\nplugin = "{program}"\ntimeout = 1\non_failure = "deny"\n'
    )
    one_machine.start()
    refused = one_machine.ask(DENY)
    one_machine.wait_for(lambda: number.exists() and number.read_text())
    pid = int(number.read_text())
    before = start_time(pid)

    one_machine.kill()
    survived = start_time(pid) == before
    one_machine.start()
    one_machine.wait_for(lambda: start_time(pid) != before)

    assert (b'"deny"' in refused.out, survived) == (True, True)


def _room(base: Path, owner: int) -> Path:
    """The directory of a process of that number."""
    folder = base / f"p-{owner}-x"
    folder.mkdir(mode=0o700)
    return folder


@pytest.fixture
def base() -> Iterator[Path]:
    """Short, because the name of a socket must be."""
    with tempfile.TemporaryDirectory(prefix="hkl-", dir="/tmp") as folder:
        yield Path(folder)


@pytest.fixture
def dead() -> int:
    """The number of a process that has ended."""
    one = subprocess.Popen([sys.executable, "-c", ""])
    one.wait()
    return one.pid


def test_plugins_of_a_process_that_is_gone_are_ended(base: Path, dead: int, stray: subprocess.Popen[bytes]) -> None:
    mark(str(_room(base, dead) / "1"), stray.pid)

    sweep(str(base))

    assert (stray.wait(60), os.listdir(base)) == (-signal.SIGTERM, [])


def test_plugins_of_a_process_that_lives_are_left_alone(base: Path, stray: subprocess.Popen[bytes]) -> None:
    mark(str(_room(base, os.getpid()) / "1"), stray.pid)

    sweep(str(base))

    assert (stray.poll(), os.listdir(base)) == (None, [f"p-{os.getpid()}-x"])


@pytest.mark.parametrize("text", ["{pid} 1", "{pid}", "", "-1 1", "9" * 30, "\xff"])
def test_a_process_that_only_has_the_number_is_left_alone(
    base: Path, dead: int, stray: subprocess.Popen[bytes], text: str
) -> None:
    (_room(base, dead) / "1.process").write_text(text.format(pid=stray.pid))

    sweep(str(base))

    assert (stray.poll(), os.listdir(base)) == (None, [])


def test_nobody_else_can_name_a_process(base: Path, dead: int, stray: subprocess.Popen[bytes]) -> None:
    mark(str(_room(base, dead) / "1"), stray.pid)
    base.chmod(0o770)

    sweep(str(base))

    assert stray.poll() is None


def test_a_room_is_swept_before_it_is_used(base: Path, dead: int, stray: subprocess.Popen[bytes]) -> None:
    (base / "hookline").mkdir(mode=0o700)
    mark(str(_room(base / "hookline", dead) / "1"), stray.pid)
    room = SocketDirectory()

    room.name("", {"XDG_RUNTIME_DIR": str(base)})
    room.remove()

    assert stray.wait(60) == -signal.SIGTERM
