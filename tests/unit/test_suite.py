"""How the suite itself is run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]

#: What a program that a test starts inherits: whether it ignores SIGHUP and SIGINT.
STARTED = "import signal; print([signal.getsignal(one) is signal.SIG_IGN for one in (signal.SIGHUP, signal.SIGINT)])"
SUITE = (
    f"import subprocess, sys; import tests.conftest; subprocess.run([sys.executable, '-c', {STARTED!r}], check=True)"
)


def test_a_suite_started_with_nohup_tests_programs_that_hear_signals():
    line = ["sh", "-c", 'trap "" HUP INT; exec "$@"', "sh", sys.executable, "-c"]
    assert subprocess.check_output([*line, STARTED], text=True) == "[True, True]\n"
    assert subprocess.check_output([*line, SUITE], text=True, cwd=ROOT) == "[False, False]\n"
