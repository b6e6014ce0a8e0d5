"""The runners of processes and of requests keep what every runner promises."""

from __future__ import annotations

import os
import socket
import sys

import pytest

from hookline.run.command import CommandRunner
from hookline.run.stop import Stop
from hookline.testing import check_runner


@pytest.mark.skipif(sys.platform != "linux", reason="looks for survivors in /proc")
def test_the_command_runner_keeps_what_every_runner_promises(job, survivors):
    kinds = {
        "good": lambda: job("echo", "hello"),
        "bad": lambda: job("/nowhere/at/all"),
        "endless": lambda: job("stubborn", timeout=0.2, grace=0.1),
        "patient": lambda: job("brood", timeout=60, grace=0.1),
    }
    check_runner(CommandRunner, lambda kind: kinds[kind](), leftovers=survivors)


def test_a_stop_that_nobody_closed_leaves_no_descriptor():
    before = socket.socket()  # the lowest free number, before and after
    lowest = before.fileno()
    before.close()
    for _ in range(3):
        Stop().fileno()
    again = os.open(os.devnull, os.O_RDONLY)
    os.close(again)
    assert again == lowest
