"""Law 13: once decided, the answer is given. Every call after the decision fails once, at every door, and the deny stands."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("inject_faults.py")
#: Every call in ``make fuzz``, every ninth in the gate.
STRIDE = 1 if os.environ.get("HOOKLINE_HYPOTHESIS") == "long" else 9


@pytest.mark.parametrize("door", ["cold", "closed", "fire", "daemon", "library", "shell"])
def test_no_fault_after_the_decision_changes_the_answer(door: str) -> None:
    done = subprocess.run(
        [sys.executable, str(PROGRAM), door, str(STRIDE)], capture_output=True, text=True, timeout=600, check=False
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["faults"] * STRIDE > 100, "too few calls were seen: does the injector still find the decision?"
    assert result["wrong"] == []
