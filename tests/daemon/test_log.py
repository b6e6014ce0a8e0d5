"""The log of a daemon in the background has an end, and is no reason not to begin."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.daemon import lifecycle

from .test_daemon import DENY, reason

if TYPE_CHECKING:
    from .conftest import Machine

START = [sys.executable, "-m", "hookline", "daemon", "start"]
TALKATIVE = """\
import os
def judge(event):
    os.write(2, b"x" * {many})
    return {{"effect": "deny", "reason": "no"}}
"""
CONFIG = '[[hook]]\nname = "guard"\non = "PreToolUse"\npython = "guard:judge"\n'


def test_whatever_is_printed_the_log_has_an_end(one_machine: Machine) -> None:
    one_machine.user(CONFIG, guard=TALKATIVE.format(many=lifecycle._MOST + 1))
    one_machine.run(START)

    told = one_machine.ask(DENY)
    one_machine.wait_for(lambda: os.path.getsize(one_machine.place.log) < 1000)

    assert reason(told) == "no"
    with open(one_machine.place.log, encoding="utf-8") as file:
        assert file.read() == "hookline: the log was full and starts over\n"


def test_where_there_can_be_no_log_there_is_a_daemon_all_the_same(one_machine: Machine) -> None:
    one_machine.guarded()
    os.makedirs(one_machine.place.log, mode=0o700)

    one_machine.run(START)

    assert one_machine.status()["running"]
    assert reason(one_machine.ask(DENY)) == "no: rm x"
