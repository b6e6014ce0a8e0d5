"""However a command ends, it ends, and takes its hooks with it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pytest
from tests.patience import alive, eventually

STUBBORN = """
import time
def hold(event):
    while True:
        try:
            time.sleep(0.05)
        except BaseException:
            pass
"""


@pytest.fixture
def stubborn(project):
    project.write("stubborn.py", STUBBORN)
    hook = '[[hook]]\nname = "b"\non = "Stop"\nmode = "background"\nshell = "echo $$ > background.pid; sleep 300"\n\n'
    hook += '[[hook]]\nname = "s"\non = "Stop"\npython = "stubborn:hold"\ntimeout = "200ms"\n'
    project.write("s.toml", hook)
    return project


def gone(pid: int) -> bool:
    return eventually(lambda: not alive(pid))


@pytest.mark.parametrize(
    ("words", "refusal"),
    [("fire Stop --json --config s.toml", 1), ("hook --agent native --cold --event Stop --config s.toml", 2)],
)
def test_a_function_that_catches_its_own_deadline_refuses_and_leaves_nothing_running(stubborn, words, refusal):
    result = stubborn.run(*words.split(), stdin="{}")
    assert (result.code, result.out, "deadline" in result.err) == (refusal, "", True)
    assert gone(int((stubborn.path / "background.pid").read_text()))


def test_a_terminal_that_is_closed_leaves_no_hook_behind(project):
    project.write(
        "h.toml", '[[hook]]\nname = "h"\non = "Stop"\nshell = "echo $$ > h.pid.new; mv h.pid.new h.pid; sleep 300"\n'
    )
    fired = subprocess.Popen(
        [sys.executable, "-m", "hookline", "fire", "Stop", "--config", "h.toml"],
        cwd=project.path, env={"PATH": os.environ["PATH"], "HOME": str(project.home)}, stderr=subprocess.PIPE,
    )  # fmt: skip
    with fired:
        while not (project.path / "h.pid").exists():
            time.sleep(0.01)
        fired.send_signal(signal.SIGHUP)
        assert (fired.wait(60), fired.stderr.read() if fired.stderr else b"") == (143, b"")
    assert gone(int((project.path / "h.pid").read_text()))


#: Runs hookline where a hook that was just started comes before whoever started it.
ON_ONE_PROCESSOR = """
import os, sys
os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.execv(sys.executable, [sys.executable, "-m", "hookline", *sys.argv[1:]])
"""


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="the system does not let us choose a processor")
@pytest.mark.parametrize("number", [signal.SIGHUP, signal.SIGTERM, signal.SIGINT])
def test_whoever_is_ended_while_a_hook_is_being_started_leaves_none_behind(project, number):
    """The hook stops us as soon as it is there, which is mostly before we know its number."""
    text = "kill -STOP $PPID; echo $$ > h.pid.new; mv h.pid.new h.pid; exec sleep 300"
    project.write("h.toml", f'[[hook]]\nname = "h"\non = "Stop"\nshell = "{text}"\n')
    fired = subprocess.Popen(
        [sys.executable, "-c", ON_ONE_PROCESSOR, "fire", "Stop", "--config", "h.toml"],
        cwd=project.path, env={"PATH": os.environ["PATH"], "HOME": str(project.home)}, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    with fired:
        assert eventually((project.path / "h.pid").exists)
        fired.send_signal(number)
        fired.send_signal(signal.SIGCONT)
        assert fired.wait(60) != 0
    assert gone(int((project.path / "h.pid").read_text()))
