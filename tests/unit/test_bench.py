"""The bench runs and prints its table; how fast this machine is, is not a test's business."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

BENCH = Path(__file__).parents[2] / "bench" / "bench.py"


@pytest.mark.timeout(600)  # it starts hundreds of programs
def test_the_bench_runs_and_judges_every_promise():
    done = subprocess.run([sys.executable, BENCH, "--short"], capture_output=True, text=True, check=False, timeout=540)
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.startswith(("✓", "✗"))]
    assert len(lines) >= 14
