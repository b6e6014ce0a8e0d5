"""Runners keep their promises: never raise, hold the deadline, heed a stop, leave nothing behind."""

from __future__ import annotations

import os
import threading
from pathlib import Path

from tests.patience import eventually

from hookline.core.hook import Command
from hookline.core.settings import Limits, Settings
from hookline.dialects import dialect_named
from hookline.runners.base import Job, Stop
from hookline.runners.command import CommandRunner
from hookline.testing import check_runner, event, hook_spec

SETTINGS = Settings(limits=Limits(grace=0.2))
PROGRAMS = {
    "good": ("sh", "-c", "cat >/dev/null; echo '{}'"),
    "bad": ("/nowhere/at/all",),
    # A deaf child and a grandchild that holds the pipe: the whole group has to go.
    "endless": ("sh", "-c", "trap '' TERM; sleep 300 & while :; do sleep 300; done"),
    "patient": ("sh", "-c", "sleep 300"),
}


def children(of: int) -> set[str]:
    """Processes below this one that are still running; those that only wait to be reaped do not count."""
    found = set()
    for stat in Path("/proc").glob("[0-9]*/stat"):
        try:
            rest = stat.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(rest[1]) == of and rest[0] != "Z":
            found.add(stat.parent.name)
    return found


def job(kind: str, folder: Path) -> Job:
    timeout = {"endless": 0.3}.get(kind, 60.0)
    spec = hook_spec(kind, action=Command(form="argv", argv=PROGRAMS[kind]), timeout=timeout)
    happening = event("PreToolUse", cwd=str(folder))
    call = dialect_named("native").event_out(spec, happening)
    return Job(spec=spec, event=happening, call=call, settings=SETTINGS, stop=Stop())


def test_the_command_runner_keeps_its_promises(tmp_path):
    # Other tests of this process may have left something running: only what comes from here counts.
    programs, threads = children(os.getpid()), set(threading.enumerate())

    def found() -> set[object]:
        return {*children(os.getpid()) - programs, *set(threading.enumerate()) - threads}

    def leftovers() -> set[object]:
        """What does not go even if it is given time: a process that is being killed is not left behind."""
        eventually(lambda: not found(), 20)
        return found()

    check_runner(CommandRunner, lambda kind: job(kind, tmp_path), leftovers=leftovers)
