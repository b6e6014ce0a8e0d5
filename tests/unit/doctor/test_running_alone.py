"""What the doctor starts is gone when the doctor is, however it ends."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from hookline.doctor import live_run

#: An agent that waits for ever.
AGENT = "import pathlib, time; pathlib.Path('begun').write_text('x'); time.sleep(600)"


def _until(happened: Callable[[], object], seconds: float = 30) -> None:
    limit = time.monotonic() + seconds
    while not happened():
        assert time.monotonic() < limit, "it never came"
        time.sleep(0.02)


def _running(mark: str) -> list[int]:
    """Processes that have the mark in their environment."""
    found = []
    for name in filter(str.isdecimal, os.listdir("/proc")):
        with contextlib.suppress(OSError):
            if mark.encode() in Path(f"/proc/{name}/environ").read_bytes():
                found.append(int(name))
    return found


@pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="processes are found by their environment, in /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_an_agent_does_not_outlive_the_doctor(tmp_path: Path, number: signal.Signals) -> None:
    alone = live_run.isolation_command()
    if alone is None or (number == signal.SIGKILL and "--kill-child" not in alone):
        pytest.skip("nothing can be run apart on this system")
    mark = f"HOOKLINE_TEST_MARK={tmp_path}"
    run = {
        "argv": [sys.executable, "-c", AGENT], "cwd": str(tmp_path), "timeout": 300,
        "environ": {"PATH": os.environ["PATH"], "HOOKLINE_TEST_MARK": str(tmp_path)},
    }  # fmt: skip
    source = f"import json; from hookline.doctor.sandbox import play; play(json.loads({json.dumps(json.dumps(run))}))"
    doctor = subprocess.Popen([*alone, sys.executable, "-c", source], cwd=tmp_path, start_new_session=True)
    try:
        _until((tmp_path / "begun").exists)
        assert _running(mark)
        if number == signal.SIGINT:
            os.killpg(doctor.pid, number)  # as a terminal does, to all of them
        else:
            doctor.kill()
        doctor.wait(30)
        _until(lambda: not _running(mark))
    finally:
        doctor.kill()
        for left in _running(mark):
            os.kill(left, signal.SIGKILL)
