"""Stand-ins for hooks that were trusted and then edited or removed: they fail where the hook stood.

Otherwise whoever can write to a project could disable its guard: by turning it off, by narrowing what it matches, by
letting it fail open, or by deleting it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.hook import Command, Gates, HookSpec, Matcher, Origin, Scope, hook_id

if TYPE_CHECKING:
    from hookline.core.hook import OnFailure
    from hookline.state.trust import Approval, Verdict

_STRICTNESS: tuple[OnFailure, ...] = ("ignore", "deny", "abort")


def stand_in_for_changed(spec: HookSpec, verdict: Verdict) -> HookSpec:
    """A hook whose definition changed: the change must not keep it from failing, or weaken what its failure means.

    What it used to match is not known, so it fails on every event of its kind.
    """
    if "definition" not in verdict.changed:
        return spec
    before = (verdict.approval and verdict.approval.on_failure) or spec.on_failure
    return replace(
        spec,
        enabled=True,
        matcher=Matcher(),
        gates=Gates(),
        scope=Scope(),
        mode="sync",
        on_failure=max(before, spec.on_failure, key=_STRICTNESS.index),
    )


def stand_in_for_removed(approval: Approval) -> HookSpec | None:
    """A stand-in for a removed guard; None for a hook whose failure blocks nothing."""
    if not approval.on_failure or approval.on_failure == "ignore":
        return None
    return HookSpec(
        id=hook_id(approval.file, f"{approval.pointer} {approval.name}", approval.event),
        name=approval.name,
        dialect="native",
        event=approval.event,
        origin=Origin(file=approval.file, layer="project", pointer=approval.pointer),
        action=Command(form="argv", argv=("false",)),
        on_failure=approval.on_failure,
    )
