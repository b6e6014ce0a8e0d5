from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

import pytest
from tests.patience import SOON

from hookline.runners.watchdog import WATCHDOG, HookTimeout


def spin(_):
    count = 0
    while True:
        count += 1


def busy(seconds):
    end = time.perf_counter() + seconds
    while time.perf_counter() < end:
        pass
    return "done"


def test_a_function_in_time_gives_its_value():
    assert WATCHDOG.call(len, "four", 60.0) == 4


def test_a_function_without_a_limit_is_just_called():
    assert WATCHDOG.call(len, "four", None) == 4


def test_what_a_function_raises_comes_out():
    with pytest.raises(ZeroDivisionError):
        WATCHDOG.call(lambda number: 1 / number, 0, 60.0)


def test_an_endless_loop_is_interrupted():
    began = time.monotonic()
    with pytest.raises(HookTimeout):
        WATCHDOG.call(spin, None, 0.1)
    assert time.monotonic() - began < SOON


def test_an_endless_loop_in_another_thread_is_interrupted():
    seen = []

    def work():
        try:
            WATCHDOG.call(spin, None, 0.1)
        except HookTimeout:
            seen.append("interrupted")

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert seen == ["interrupted"] * 3


def test_a_handler_of_ordinary_exceptions_does_not_swallow_the_deadline():
    def careless(_):
        while True:
            try:
                spin(None)
            except Exception:
                continue

    with pytest.raises(HookTimeout):
        WATCHDOG.call(careless, None, 0.1)


def test_a_function_that_swallows_everything_gets_it_again_and_again():
    caught: list[type[BaseException]] = []

    def deaf(_):
        while len(caught) < 3:
            try:
                spin(None)
            except BaseException as error:
                caught.append(type(error))
        return "gave in"

    assert WATCHDOG.call(deaf, None, 0.05) == "gave in"
    assert caught == [HookTimeout] * 3


def test_the_nearer_deadline_of_a_nested_call_leaves_the_outer_one_alone():
    def outer(_):
        with pytest.raises(HookTimeout):
            WATCHDOG.call(spin, None, 0.1)
        return "went on"

    assert WATCHDOG.call(outer, None, 60.0) == "went on"


def test_the_outer_deadline_holds_inside_and_after_a_nested_call():
    def outer(_):
        try:
            WATCHDOG.call(spin, None, 60.0)
        except HookTimeout:
            spin(None)

    began = time.monotonic()
    with pytest.raises(HookTimeout):
        WATCHDOG.call(outer, None, 0.1)
    assert time.monotonic() - began < SOON


def test_no_exception_comes_after_the_function_has_returned():
    """Deadlines within microseconds of the end, then innocent code: it must never be hit."""
    outcomes = set()
    for number in range(1500):
        try:
            outcomes.add(WATCHDOG.call(busy, 0.0005, 0.0005 + (number % 50 - 25) * 1e-5))
        except HookTimeout:
            outcomes.add("overran")
        sum(range(200))
    assert "done" in outcomes


def test_a_short_deadline_after_a_long_one_is_noticed():
    WATCHDOG.call(len, "", 60.0)
    began = time.monotonic()
    with pytest.raises(HookTimeout):
        WATCHDOG.call(spin, None, 0.05)
    assert time.monotonic() - began < SOON


def test_there_is_one_watchdog_thread_however_many_calls():
    code = (
        "import threading\nfrom hookline.runners.watchdog import WATCHDOG\n"
        "for _ in range(5):\n    WATCHDOG.call(len, '', 60.0)\n"
        "print([thread.name for thread in threading.enumerate()].count('hookline-watchdog'))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "1"


SLEEPER = """
import time
from hookline.runners.watchdog import WATCHDOG, HookTimeout, install_interrupt
install_interrupt()
began = time.monotonic()
try:
    WATCHDOG.call(time.sleep, 60, 0.2)
except HookTimeout:
    print("interrupted", time.monotonic() - began < 25)
time.sleep(0.3)
print("calm")
"""


def test_a_sleep_of_the_main_thread_is_interrupted_where_the_program_is_ours():
    done = subprocess.run([sys.executable, "-c", SLEEPER], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.split() == ["interrupted", "True", "calm"]


FORKER = """
import os, time
from hookline.runners.watchdog import WATCHDOG, HookTimeout
WATCHDOG.call(len, "", 60)
pid = os.fork()
if pid == 0:
    try:
        WATCHDOG.call(lambda _: [None for _ in iter(int, 1)], None, 0.1)
    except HookTimeout:
        os._exit(7)
    os._exit(1)
print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
"""


def test_the_deadline_holds_in_a_forked_child():
    command = [sys.executable, "-W", "ignore", "-c", FORKER]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True, env=dict(os.environ))
    assert done.stdout.strip() == "7"


def test_nothing_expensive_is_imported_for_a_call_in_time():
    code = (
        "import sys\nfrom hookline.runners.function import WATCHDOG, FunctionRunner\nFunctionRunner()\nWATCHDOG.call(len, (), 5)\n"
        "print([m for m in ('ctypes', 'asyncio', 'traceback', 'subprocess') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "[]"


def test_an_exception_that_is_delivered_inside_the_watchdogs_own_code_does_not_break_it():
    """Deadlines that have passed before the call has begun: they hit while the bell is being rung."""
    for number in range(300):
        with pytest.raises(HookTimeout):
            WATCHDOG.call(spin, None, (number % 5) * 1e-5)


TRACED = """
import sys
from hookline.runners.watchdog import WATCHDOG, HookTimeout
try:
    WATCHDOG.call(lambda _: [None for _ in iter(int, 1)], None, 0.1)
except HookTimeout:
    sys.settrace(lambda *_: None)
    (lambda: print("entered"))()
"""


def test_a_debugger_can_go_on_after_a_deadline():
    done = subprocess.run([sys.executable, "-c", TRACED], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.strip() == "entered"
