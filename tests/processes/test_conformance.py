"""The runners of processes and of requests keep what every runner promises."""

from __future__ import annotations

import os
import sys

import pytest
from tests.patience import open_files

from hookline.runners.base import Stop
from hookline.runners.command import CommandRunner
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


@pytest.mark.skipif(sys.platform != "linux", reason="looks for descriptors in /proc")
def test_a_stop_that_nobody_closed_leaves_no_descriptor():
    pipes = set()
    for _ in range(3):
        stop = Stop()
        pipes.add(os.readlink(f"/proc/self/fd/{stop.fileno()}"))
        del stop
    assert len(pipes) == 3
    assert not pipes & set(open_files())
