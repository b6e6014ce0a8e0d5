"""One line of the doctor's report, with the next command to type."""

from __future__ import annotations

import os
from collections.abc import Sequence

from hookline.core._dataclass import dataclass
from hookline.core.hook import HookSpec
from hookline.core.typed import TYPE_CHECKING, Literal
from hookline.state.record.query import latest_times

if TYPE_CHECKING:
    from hookline.state.record.store import Store


def budget_overruns(store: Store, specs: Sequence[HookSpec]) -> dict[str, str]:
    """By id: how far each hook is over its budget, and the consequence."""
    stated = [spec for spec in specs if spec.thrift is not None and spec.thrift.budget is not None]
    if not stated or not os.path.exists(store.path):
        return {}
    from hookline.engine.cost import over_budget  # few hooks have a budget

    told = [(spec, over_budget(spec, latest_times(store, spec.id, spec.name))) for spec in stated]
    return {spec.id: why + _consequence(spec) for spec, why in told if why}


def _consequence(spec: HookSpec) -> str:
    from hookline.engine.cost import can_be_skipped

    if spec.thrift is None or spec.thrift.over_budget == "report" or not can_be_skipped(spec):
        return ""
    return "; it is skipped" if spec.thrift.over_budget == "skip" else "; it runs in the background"


#: ``note`` is information; ``wrong`` keeps hooks from working.
Level = Literal["fine", "note", "wrong"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    level: Level
    #: The subject: version, deployed, trust, probe, run, state, …
    about: str
    text: str
    #: The next command, or what to do; "" for nothing.
    next: str = ""

    def to_json(self) -> dict[str, str | None]:
        return {"level": self.level, "about": self.about, "text": self.text, "next": self.next or None}


def fine(about: str, text: str) -> Finding:
    return Finding(level="fine", about=about, text=text)


def note(about: str, text: str, then: str = "") -> Finding:
    return Finding(level="note", about=about, text=text, next=then)


def wrong(about: str, text: str, then: str = "") -> Finding:
    return Finding(level="wrong", about=about, text=text, next=then)
