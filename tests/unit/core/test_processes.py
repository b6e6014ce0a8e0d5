"""Whose command it was, and whether they are still there."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

import hookline.daemon.client.twin
from hookline.core.processes import Process, alive, find_owner

pytestmark = pytest.mark.skipif(not os.path.isdir("/proc/self"), reason="the system does not tell")

SAYS_ITS_NUMBER = "import os, sys; print(os.getpid(), flush=True); sys.stdin.read()"


def test_shells_are_passed_over() -> None:
    shell = ["sh", "-c", 'sh -c \'"$0" -c "$1"; true\' "$0" "$1"; true', sys.executable, SAYS_ITS_NUMBER]
    with subprocess.Popen(shell, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as below:
        assert below.stdout is not None
        owner = find_owner(int(below.stdout.readline()))
        below.communicate()
    assert owner is not None
    assert owner.pid == os.getpid()
    assert alive(owner)


def test_our_own_client_is_passed_over() -> None:
    """It waits for an ordinary run that it has started: without a daemon, whoever called it is above both."""
    started = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {SAYS_ITS_NUMBER!r}])"
    client = [sys.executable, "-ISc", started, hookline.daemon.client.twin.__file__]
    with subprocess.Popen(client, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as below:
        assert below.stdout is not None
        owner = find_owner(int(below.stdout.readline()))
        below.communicate()
    assert owner is not None
    assert owner.pid == os.getpid()


def test_a_number_that_was_given_out_again_is_another_process() -> None:
    owner = find_owner(os.getpid())
    assert owner is None or not alive(Process(pid=os.getpid(), began=owner.began + 10**9))


def test_who_has_ended_is_gone_even_before_anybody_asked_how() -> None:
    child = subprocess.Popen([sys.executable, "-c", SAYS_ITS_NUMBER], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert child.stdin is not None
    assert child.stdout is not None
    pid = int(child.stdout.readline())
    grandchild = Process(pid=pid, began=_began(pid))
    assert alive(grandchild)
    child.stdin.close()
    os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT)  # ended, and not yet buried
    assert not alive(grandchild)
    child.stdout.close()
    child.wait()


def _began(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
        return int(file.read().rpartition(")")[2].split()[19])


def test_who_is_nobody_has_no_owner() -> None:
    assert find_owner(2**30) is None
    assert find_owner(1) is None
    assert not alive(Process(pid=2**30, began=1))
