"""Hooks that exceed their budget."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.engine.cost import can_be_skipped, over_budget
from hookline.state.record.query import latest_times

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.core.hook import HookSpec
    from hookline.state.record.store import Store


def budget_overruns(store: Store, specs: Sequence[HookSpec]) -> dict[str, str]:
    """By id: how far each hook is over its budget, and the consequence."""
    stated = [spec for spec in specs if spec.thrift is not None and spec.thrift.budget is not None]
    if not stated or not os.path.exists(store.path):
        return {}
    told = [(spec, over_budget(spec, latest_times(store, spec.id))) for spec in stated]
    return {spec.id: why + _consequence(spec) for spec, why in told if why}


def _consequence(spec: HookSpec) -> str:
    if spec.thrift is None or spec.thrift.over_budget == "report" or not can_be_skipped(spec):
        return ""
    return "; it is skipped" if spec.thrift.over_budget == "skip" else "; it runs in the background"
