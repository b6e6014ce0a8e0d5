"""Somebody who watches sees how far it is; a pipe sees nothing of it."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import sys

PROGRAM = """
import time
from hookline.cli import output
output._LONG = 0.05
with output.Counter("exported", 2) as count:
    count.at("large.jsonl")
    time.sleep(1.5)
    count(1)
print("done")
"""


def test_long_work_says_what_it_is_and_how_long_it_takes() -> None:
    leader, follower = pty.openpty()
    ended = subprocess.run([sys.executable, "-c", PROGRAM], stdout=subprocess.PIPE, stderr=follower, check=True)
    os.close(follower)
    shown = os.read(leader, 100_000).decode()
    os.close(leader)
    assert ended.stdout == b"done\n"
    assert re.match(r"\rexported 0 of 2: large\.jsonl \(\d+ s\)\x1b\[K", shown)
    assert shown.endswith("\r\x1b[K")


def test_a_pipe_is_told_nothing() -> None:
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, check=True)
    assert (ended.stdout, ended.stderr) == (b"done\n", b"")
