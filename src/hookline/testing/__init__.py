"""For people who test hooks, dialects and runners: samples, builders, a fake runner, and conformance suites.

>>> from hookline.testing import event, sample
>>> event("PreToolUse", tool_name="Edit").data["tool_name"]
'Edit'
>>> sample("Notification")["level"]
'info'
"""

from __future__ import annotations

from hookline.testing.conformance import check_dialect, check_runner
from hookline.testing.events import event, hook_spec, sample, samples
from hookline.testing.fake_runner import FakeCrew, FakeRunner

__all__ = ["FakeCrew", "FakeRunner", "check_dialect", "check_runner", "event", "hook_spec", "sample", "samples"]
