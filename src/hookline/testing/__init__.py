"""Helpers to test hooks, dialects and runners: samples, builders, a fake runner, and conformance suites.

>>> from hookline.testing import event, sample
>>> event("PreToolUse", tool_name="Edit").data["tool_name"]
'Edit'
>>> sample("Notification")["level"]
'info'
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.core.samples import event, hook_spec, sample, samples
    from hookline.testing.conformance import check_dialect, check_runner
    from hookline.testing.fake_runner import FakeCrew, FakeRunner

__all__ = ["FakeCrew", "FakeRunner", "check_dialect", "check_runner", "event", "hook_spec", "sample", "samples"]

# Loaded on first use: the model server alone (hookline.llm.scripted) needs nothing else.
_HOMES: Mapping[str, str] = MappingProxyType(
    {
        "check_dialect": "testing.conformance", "check_runner": "testing.conformance", "event": "core.samples", "hook_spec": "core.samples",
        "sample": "core.samples", "samples": "core.samples", "FakeCrew": "testing.fake_runner", "FakeRunner": "testing.fake_runner",
    }
)  # fmt: skip


def __getattr__(name: str) -> Any:
    home = _HOMES.get(name)
    if home is None:
        raise AttributeError(f"module 'hookline.testing' has no attribute {name!r}")
    return getattr(import_module(f"hookline.{home}"), name)
