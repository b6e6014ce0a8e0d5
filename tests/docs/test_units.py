"""The units of the manual are such as the service managers take, and the daemon is such as the units say."""

from __future__ import annotations

import configparser
import plistlib
import re
import shutil
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from hookline.cli.commands.daemon import configure
from hookline.daemon.lifecycle import notify_ready

MANUAL = Path(__file__).parents[2] / "docs" / "how-to" / "daemon.md"


def block(language: str) -> str:
    found = re.search(rf"```{language}\n(.*?)```", MANUAL.read_text(encoding="utf-8"), re.DOTALL)
    assert found is not None
    return found[1]


def test_the_unit_of_systemd_says_what_the_daemon_does() -> None:
    unit = configparser.ConfigParser(interpolation=None)
    unit.optionxform = str  # type: ignore[assignment, method-assign]  # the documented way to keep capitals
    unit.read_string(block("ini"))

    assert unit["Service"]["Type"] == "notify"
    assert understood(unit["Service"]["ExecStart"].split(" ")[1:])
    assert float(unit["Service"]["TimeoutStopSec"]) > 60  # the daemon finishes what it does for so long


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not installed")
def test_systemd_finds_nothing_wrong_with_its_unit(tmp_path: Path) -> None:
    program = shutil.which("hookline", path=str(Path(sys.executable).parent))
    unit = tmp_path / "hookline.service"
    unit.write_text(block("ini").replace("%h/.local/bin/hookline", str(program)), encoding="utf-8")

    done = subprocess.run(
        ["systemd-analyze", "verify", "--user", "--man=no", unit], capture_output=True, text=True, check=False, timeout=200,
        env={"XDG_RUNTIME_DIR": str(tmp_path), "HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
    )  # fmt: skip

    assert (done.returncode, "hookline.service" in done.stdout + done.stderr) == (0, False), done.stderr


def test_the_list_of_launchd_is_one_that_can_be_read() -> None:
    told = plistlib.loads(block("xml").encode())

    assert told["KeepAlive"] is True
    assert understood(told["ProgramArguments"][1:])


def understood(words: list[str]) -> bool:
    from argparse import ArgumentParser

    parser = ArgumentParser()
    configure(parser)
    said = parser.parse_args(words[1:])
    return words[0] == "daemon" and said.act == "run" and said.idle == 0


@pytest.mark.parametrize("abstract", [True, False])
def test_who_waits_for_the_daemon_is_told_once(tmp_path: Path, abstract: bool) -> None:
    name = f"@hookline-{tmp_path.name}-{id(tmp_path)}" if abstract else str(tmp_path / "n")
    if abstract and sys.platform != "linux":
        pytest.skip("only Linux has such names")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as sock:
        sock.bind("\0" + name[1:] if abstract else name)
        sock.settimeout(5)
        around = {"NOTIFY_SOCKET": name}
        notify_ready(around)
        assert sock.recv(100) == b"READY=1"
        assert around == {}


def test_a_manager_that_is_gone_keeps_nobody_from_starting() -> None:
    notify_ready({"NOTIFY_SOCKET": "/nowhere/at/all"})
    notify_ready({})
