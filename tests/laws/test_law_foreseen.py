"""Whatever bash starts, the guard's reader foresees, or says that it does not know. 100,000 commands in ``make fuzz``."""

from __future__ import annotations

import os

import pytest
from tests.laws.fuzz_reader import main

LONG = os.environ.get("HOOKLINE_HYPOTHESIS") == "long"
#: Commands and seeds: always the same few in the gate, others every time in ``make fuzz``.
RUNS = [(10_000, os.getpid() * 100 + n) for n in range(10)] if LONG else [(300, 1)]


@pytest.mark.timeout(3600 if LONG else 300)
@pytest.mark.parametrize(("count", "seed"), RUNS, ids=[f"run {n}" for n in range(len(RUNS))])
def test_what_bash_starts_is_foreseen(count: int, seed: int) -> None:
    result = main(count, seed)
    assert result["started"]
    assert result["wrong"] == [], f"seed {seed}"
