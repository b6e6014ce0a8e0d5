"""A command works, or says why not, whatever its caller has closed, filled or deleted."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

DENY = '[[hook]]\nname = "no"\non = "Stop"\nshell = "echo no >&2; exit 2"\n'
ALLOW = DENY.replace("exit 2", "exit 0")
FIRE = "fire Stop --config hook.toml"
HOOK = "hook --agent native --cold --event Stop --config hook.toml"


def started(project, words: str, around: str, hook: str = DENY) -> subprocess.CompletedProcess[str]:
    project.write("hook.toml", hook)
    line = f'printf "{{}}" | "$0" -m hookline {words} {around}'
    return subprocess.run(
        ["/bin/sh", "-c", line, sys.executable], cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip


@pytest.mark.parametrize("around", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-", ">/dev/full", ">/dev/full 2>/dev/full"])
@pytest.mark.parametrize(("words", "refusal"), [(FIRE, 1), (FIRE + " --json", 1), (HOOK, 2)])
def test_a_refusal_is_a_refusal_whether_or_not_it_can_be_told(project, around, words, refusal):
    if "<&-" in around and words == HOOK:
        refusal = 65  # there is no event
    assert started(project, words, around).returncode == refusal


def test_an_answer_that_cannot_be_written_is_no_allow(project):
    assert started(project, FIRE, ">/dev/full", ALLOW).returncode == 74
    done = started(project, "status", ">/dev/full")
    assert (done.returncode, "bug" in done.stderr) == (74, False)


def test_a_reader_that_went_away_does_not_turn_a_refusal_into_an_allow(project):
    script = (
        "import subprocess, sys, os\n"
        "r, w = os.pipe(); os.close(r)\n"
        "sys.exit(subprocess.call([sys.executable, '-m', 'hookline', *sys.argv[1:]], stdout=w))\n"
    )
    project.write("hook.toml", DENY)
    done = subprocess.run(
        [sys.executable, "-c", script, *FIRE.split()], cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home)}, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1, done.stderr


def test_a_guard_stands_though_the_working_directory_was_deleted(project):
    project.write(".hookline/hookline.toml", DENY)
    assert project.run("trust", "--yes").code == 0
    work = project.path / "work"
    work.mkdir()
    done = subprocess.run(
        ["/bin/sh", "-c", 'rmdir "$PWD"; printf "{}" | "$0" -m hookline hook --agent native --cold --event Stop', sys.executable],
        cwd=work, env={"PATH": os.environ["PATH"], "HOME": str(project.home), "PWD": str(work)},
        capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert (done.returncode, "directory is gone" in done.stderr) == (2, True)
