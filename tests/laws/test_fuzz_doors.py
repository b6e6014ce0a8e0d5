"""Whatever comes through a door, hookline does not break and no deny is lost. Ten minutes of each
in ``make fuzz``; HOOKLINE_FUZZ says another number of seconds."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from .fuzz_doors import DOORS

PROGRAM = Path(__file__).with_name("fuzz_doors.py")
LONG = os.environ.get("HOOKLINE_HYPOTHESIS") == "long"
#: Seconds, attempts and seed: always the same few attempts in the gate, others every time in ``make fuzz``.
LIMITS = (os.environ.get("HOOKLINE_FUZZ", "600"), "1000000", str(os.getpid())) if LONG else ("60", "40", "1")


@pytest.mark.timeout(float(LIMITS[0]) + 300)
@pytest.mark.parametrize("door", DOORS)
def test_nothing_breaks_a_door(door: str) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), door, *LIMITS],
        capture_output=True,
        text=True,
        timeout=float(LIMITS[0]) + 200,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["attempts"] > 0
