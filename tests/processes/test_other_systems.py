"""hookline where Linux's own features are missing: no /proc, no inotify, no pidfd, no peer credentials."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.patience import eventually

from hookline.daemon import lifecycle
from hookline.daemon.protocol import DaemonPaths

PRELUDE = """
import os, socket, sys, sysconfig
sysconfig.get_config_vars()  # which Python looks up by the system's name
sys.platform = "freebsd13"
for module, name in (os, "pidfd_open"), (os, "memfd_create"), (socket, "SO_PEERCRED"):
    if hasattr(module, name):
        delattr(module, name)
def hide(event, given):
    if event in {"open", "os.listdir", "os.scandir"} and str(given[0]).startswith("/proc"):
        raise FileNotFoundError(2, "No such file or directory", given[0])
sys.addaudithook(hide)
from hookline.cli import main
raise SystemExit(main())
"""
HOOKS = """
[guard]
policy = "standard"

[[hook]]
name = "no-rm"
on = "PreToolUse"
match = "Bash"
run = "./no-rm.sh"

[[hook]]
name = "slow"
on = "Stop"
shell = "sleep 600 & echo $! > left; wait"
timeout = "1s"
"""
CALL = {"hook_event_name": "PreToolUse", "session_id": "s", "tool_name": "Bash", "tool_input": {"command": "rm -rf x"}}


class Other:
    """A person's account on such a system, with an approved project."""

    def __init__(self, root: Path) -> None:
        self.home, self.project = root / "home", root / "project"
        (self.home / ".claude").mkdir(parents=True)
        (self.project / ".hookline").mkdir(parents=True)
        (self.project / ".git").mkdir()
        (self.project / ".hookline/hookline.toml").write_text(HOOKS)
        script = self.project / "no-rm.sh"
        script.write_text("#!/bin/sh\ngrep -q 'rm -rf' || exit 0\necho by hand >&2\nexit 2\n")
        script.chmod(0o755)
        self.environ = {
            "HOME": str(self.home), "PATH": os.environ["PATH"], "XDG_RUNTIME_DIR": str(root),
            "HOOKLINE_DAEMON": "if running",
        }  # fmt: skip
        self.run("trust", "--yes")

    def run(self, *words: str, stdin: str = "", code: int = 0) -> str:
        done = subprocess.run(
            [sys.executable, "-c", PRELUDE, *words], cwd=self.project, env=self.environ, input=stdin,
            capture_output=True, text=True, timeout=100, check=False,
        )  # fmt: skip
        assert done.returncode == code, done.stdout + done.stderr
        return done.stdout


@pytest.fixture
def other(tmp_path: Path) -> Other:
    return Other(tmp_path)


def call(other: Other) -> str:
    return json.dumps({**CALL, "cwd": str(other.project)})


def test_a_hook_refuses_and_an_edited_one_refuses_too(other: Other):
    assert "by hand" in other.run("hook", "--agent", "claude-code", "--cold", stdin=call(other))
    (other.project / "no-rm.sh").write_text("#!/bin/sh\nexit 0\n")
    assert "changed since it was trusted" in other.run("hook", "--agent", "claude-code", "--cold", stdin=call(other))


def test_what_a_late_hook_started_is_ended_with_it(other: Other):
    told = json.loads(other.run("fire", "Stop", "--json"))
    assert [one["status"] for one in told["outcomes"]] == ["timed-out"]
    left = int((other.project / "left").read_text())
    assert eventually(lambda: not runs(left))


def runs(pid: int) -> bool:
    found = subprocess.run(["ps", "-o", "stat=", "-p", str(pid)], capture_output=True, text=True, check=False)
    return found.stdout.strip()[:1] not in {"", "Z"}


def test_a_registration_goes_as_it_came(other: Other):
    settings = other.home / ".claude/settings.json"
    settings.write_text('{\n\t"model": "opus"\n}\n')
    other.run("deploy", "--agent", "claude-code")
    assert "hookline" in settings.read_text()
    other.run("undeploy")
    assert settings.read_text() == '{\n\t"model": "opus"\n}\n'


def test_the_daemon_answers_and_notices_an_edited_hook(other: Other, tmp_path: Path):
    place = DaemonPaths(directory=str(tmp_path / "hookline"))
    daemon = subprocess.Popen(
        [sys.executable, "-c", PRELUDE, "daemon", "run"], env=other.environ, stdin=subprocess.DEVNULL
    )
    try:
        assert eventually(lambda: lifecycle.ask(place, "status") is not None)
        asked = ("hook", "--agent", "claude-code")
        assert "by hand" in other.run(*asked, stdin=call(other))
        (other.project / "no-rm.sh").write_text("#!/bin/sh\nexit 0\n")
        assert "changed since it was trusted" in other.run(*asked, stdin=call(other))
        assert json.loads(other.run("daemon", "status", "--json"))["requests"] >= 2
        other.run("daemon", "stop")
        assert daemon.wait(60) == 0
    finally:
        daemon.kill()
        daemon.wait()


def test_a_doctor_finds_nothing_wrong(other: Other):
    other.run("deploy", "--agent", "claude-code")
    assert "No alarms." in other.run("doctor", "--agent", "claude-code")
