"""What the guard's verdict costs: over the project's own cases, on hostile input, and its import."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from typing import TYPE_CHECKING

from measure import Row

if TYPE_CHECKING:
    from collections.abc import Iterator

CASES = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "unit", "guard", "cases")
HOSTILE = (
    "$(" * 500_000,
    "{" * 10_000,
    "eval " * 1_000,
    "true;" * 5_000,
    "a" * 99_000,
    "x=$(cat y);" * 2_000,
    "curl '" + "-X DELETE " * 6_000 + "'",
)


def rows(short: bool) -> Iterator[Row]:
    from hookline.guard.policy import Policy
    from hookline.guard.score import IMAGINED
    from hookline.guard.verdict import judge

    policy = Policy(name="strict", allow_read_only=True)

    def taken(command: str) -> float:
        began = time.thread_time()
        judge(command, policy=policy, around=IMAGINED)
        return (time.thread_time() - began) * 1000

    commands = list(_commands())
    for command in commands:  # every table and pattern is loaded
        taken(command)
    times = sorted(min(taken(command) for _ in range(1 if short else 5)) for command in commands)
    median, tail = times[len(times) // 2], times[int(len(times) * 0.99)]
    yield Row(what="a verdict on a command, median", shown=f"{len(times)} cases", value=median, unit="ms", target=1.0)
    yield Row(
        what="a verdict on a command, 99th percentile", shown=f"{len(times)} cases", value=tail, unit="ms", target=5.0
    )
    worst = max(taken(command) for command in HOSTILE)
    yield Row(
        what="a verdict on hostile input, worst", shown=f"{len(HOSTILE)} inputs", value=worst, unit="ms", target=100.0
    )
    yield Row(what="from hookline.guard import judge", shown="a fresh process", value=_import(), unit="ms", target=30.0)


def _commands() -> Iterator[str]:
    for name in sorted(os.listdir(CASES)):
        with open(os.path.join(CASES, name), encoding="utf-8") as file:
            for line in file.read().splitlines():
                if line and not line.startswith(("#", "=")):
                    yield line if name == "reads.txt" else line.partition(": ")[2]


def _import() -> float:
    """Processor time beyond what every hookline process has loaded; the best of five."""
    code = (
        "import re, typing, datetime, hookline.core.agents, time; began = time.process_time();"
        "from hookline.guard import judge; print((time.process_time() - began) * 1000)"
    )
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
    runs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, env=environment) for _ in range(6)
    ]
    return min(float(run.stdout) for run in runs)
