"""How the whole suite is run: properties without a clock, the same ones every time where the gate runs."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings
from tests.e2e.summary import pytest_terminal_summary

__all__ = ["pytest_terminal_summary"]

# A loaded machine is no reason to fail: how long an example takes says nothing about the law it tries.
_CALM = [HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.function_scoped_fixture]
settings.register_profile("here", deadline=None, suppress_health_check=_CALM)
settings.register_profile("gate", parent=settings.get_profile("here"), derandomize=True)
settings.register_profile("long", parent=settings.get_profile("here"), max_examples=2000)
settings.load_profile(os.environ.get("HOOKLINE_HYPOTHESIS") or ("gate" if os.environ.get("CI") else "here"))
