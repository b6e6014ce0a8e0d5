"""How the whole suite is run: properties without a clock, the same ones every time where the gate runs.

No test changes the program for those after it: what the command line, called in this very process, does to signals and
to the watchdog of functions is taken back.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Generator

import pytest
from hypothesis import HealthCheck, settings
from tests.e2e.summary import pytest_terminal_summary

from hookline.runners.watchdog import WATCHDOG

__all__ = ["pytest_terminal_summary"]

# A loaded machine is no reason to fail: how long an example takes says nothing about the law it tries.
_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile("here", deadline=None, suppress_health_check=_CALM)
settings.register_profile("gate", parent=settings.get_profile("here"), derandomize=True)
settings.register_profile("quick", parent=settings.get_profile("here"), max_examples=15)
settings.register_profile("long", parent=settings.get_profile("here"), max_examples=2000)
settings.load_profile(os.environ.get("HOOKLINE_HYPOTHESIS") or ("gate" if os.environ.get("CI") else "here"))

#: Not SIGALRM: it belongs to the limit that every test has.
_SIGNALS = (signal.SIGHUP, signal.SIGINT, signal.SIGTERM)

# Started with ``nohup`` or in a script's background, the suite inherits signals that are ignored, and so would every
# program that it starts: rightly, but some tests send these signals. A handler that does nothing protects the suite in
# the same way, and is not inherited.
for _number in _SIGNALS:
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, lambda _signal, _frame: None)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol() -> Generator[None, object, object]:
    handlers = {number: signal.getsignal(number) for number in _SIGNALS}
    done = yield
    for number, handler in handlers.items():
        if signal.getsignal(number) is not handler:
            signal.signal(number, handler)
    WATCHDOG._interrupt, WATCHDOG._give_up = False, None
    return done
