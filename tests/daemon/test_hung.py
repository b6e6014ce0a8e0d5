"""A function that lets no thread of the daemon run: something outside the interpreter ends it, and the next one knows."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from hookline.core.hook import Function, HookSpec, Origin
from hookline.daemon import quarantine
from hookline.daemon.server import LINGER

from .conftest import Machine
from .test_daemon import reason

#: Never comes to an end, and keeps the interpreter all the while.
HANGING = """\
import re
def judge(event):
    if event.data["tool_input"]["command"] == "hang":
        re.match(r"(a+)+$", "a" * 40 + "b")
    return {"effect": "deny", "reason": "well"}
"""
HOOK = '[[hook]]\nname = "h"\non = "PreToolUse"\npython = "h:judge"\ntimeout = "3s"\non_failure = "deny"\n'
HANG = {"tool_input": {"command": "hang"}}
WORDS = ("--on-failure", "deny", "--deadline", "4")


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_a_function_that_lets_nobody_run_ends_the_daemon_and_runs_apart_in_the_next(one_machine: Machine) -> None:
    one_machine.user(HOOK, h=HANGING)
    daemon = one_machine.start()
    assert reason(one_machine.ask()) == "well"

    first = one_machine.ask(HANG, *WORDS)
    one_machine.wait_for(lambda: gone(daemon.pid), 200)  # five seconds of computing, on a busy machine
    daemon.wait()
    again = one_machine.start()

    assert first.code == 2 or b'"deny"' in first.out
    (crash,) = one_machine.status()["crashes"]
    assert f"judge ({one_machine.home}/.config/hookline/h.py, line 4)" in crash
    assert crash in (one_machine.root / "log").read_text()
    assert reason(one_machine.ask()) == "well"
    began = time.monotonic()
    assert reason(one_machine.ask(HANG, "--on-failure", "deny", "--deadline", "90")).startswith(
        "hook failed: timeout ("
    )
    assert time.monotonic() - began < 45
    assert reason(one_machine.ask()) == "well"
    assert again.poll() is None
    assert len([one for one in one_machine.recorded() if "well" in json.dumps(one)]) == 3


def test_one_that_hangs_in_the_background_while_nobody_asks_ends_the_daemon_too(one_machine: Machine) -> None:
    one_machine.user(
        '[[hook]]\nname = "h"\non = "PreToolUse"\npython = "h:judge"\nmode = "background"\n',
        h=f"import time\ndef judge(event):\n    time.sleep({LINGER} + 0.5)\n    sum(range(10**12))\n",
    )
    daemon = one_machine.start()
    assert one_machine.ask().code == 0
    assert daemon.wait(200) == -signal.SIGPROF


def test_a_function_that_is_changed_is_trusted_again(tmp_path: Path) -> None:
    module = tmp_path / "h.py"
    module.write_text("x")
    since = os.stat(module).st_ctime
    known = quarantine.Quarantine(frozenset({str(module)}), since)
    spec = _spec(str(tmp_path))

    assert known.holds(spec)
    until = time.monotonic() + 60
    while os.stat(module).st_ctime == since and time.monotonic() < until:
        module.write_text("y")
    assert not known.holds(spec)


def _spec(base: str) -> HookSpec:
    return HookSpec(
        id="h", name="h", dialect="native", event="PreToolUse", action=Function(target="h:judge", base=base),
        timeout=1.0, origin=Origin(file="", layer="user"),
    )  # fmt: skip


STACKS = """\
Thread 0x1 (most recent call first):
  File "/lib/site-packages/other.py", line 1 in waits
  File "{ours}run/watchdog.py", line 9 in call

Current thread 0x2 (most recent call first):
  File "{library}re/__init__.py", line 166 in match
  File "/home/you/h.py", line 4 in judge
  File "{ours}run/watchdog.py", line 9 in call
  File "/home/you/not_this.py", line 4 in main
"""


def test_what_is_told_once_is_remembered_for_a_day(tmp_path: Path) -> None:
    path = tmp_path / "daemon.hung"
    path.write_text(STACKS.format(ours=quarantine.OURS, library=quarantine.LIBRARY))

    first = quarantine.open_quarantine(str(path))
    second = quarantine.open_quarantine(str(path))
    yesterday = time.time() - quarantine.REMEMBERED - 60
    os.utime(path, (yesterday, yesterday))
    third = quarantine.open_quarantine(str(path))

    for file, _, _ in (first, second, third):
        os.close(file)
    assert "judge (/home/you/h.py, line 4)" in first[2]
    assert "other.py" not in first[2]
    assert (second[2], second[1].files) == ("", frozenset({"/home/you/h.py"}))
    assert (third[2], third[1].files, path.read_text()) == ("", frozenset(), "")


def test_where_nothing_can_be_kept_the_warden_stands_all_the_same(tmp_path: Path) -> None:
    file, known, told = quarantine.open_quarantine(str(tmp_path / "missing" / "daemon.hung"))
    assert (file, known.files, told) == (2, frozenset(), "")


@pytest.mark.parametrize("call", ["time.sleep(90)", "ctypes.PyDLL(None).sleep(90)"])
def test_a_call_that_waits_and_holds_the_interpreter_comes_to_an_end_too(call: str, tmp_path: Path) -> None:
    """The first lets others run, and is left alone."""
    code = (
        "import ctypes, threading, time\n"
        "from hookline.daemon import quarantine\n"
        "quarantine._WALL_SECONDS, quarantine._RESET_EVERY = 5.0, 0.0\n"
        "one = quarantine.HangTimer(1)\n"
        "one.reset(time.monotonic())\n"
        f"def work():\n    {call}\n"
        "threading.Thread(target=work, daemon=True).start()\n"
        "for _ in range(20):\n    one.reset(time.monotonic())\n    time.sleep(0.05)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert (done.returncode, b"in work" in done.stdout) == ((0, False) if "time." in call else (-14, True))


def test_a_warden_without_a_file_winds_nothing() -> None:
    quarantine.HangTimer().reset(1.0)
    quarantine.HangTimer().rest(1.0)
    assert signal.getitimer(signal.ITIMER_PROF) == (0.0, 0.0)
