"""Which hooks are as they were approved, which have changed, which are new, and which are gone: pure.

An approval belongs to a slot: a file, an event and a name. Lines and ordinals are no part of it, so a hook
may be moved; but who edits an approved hook, or takes its place, does not become a stranger by that.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Literal

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec, OnFailure
    from hookline.state.trust.pins import Pins

_State = Literal["trusted", "unknown", "changed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Approval:
    """One hook as a person approved it."""

    name: str
    event: str
    file: str
    pointer: str
    definition: str
    files: tuple[tuple[str, str], ...]
    #: Seconds since the epoch.
    when: float = 0.0
    #: What its failure meant then; "" where that was not kept.
    on_failure: OnFailure | Literal[""] = ""
    #: Which hooks were looked at when it was approved (a project's, in one system's places); "" if that was not kept.
    look: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """``changed`` names what is not as it was approved: "definition", or files."""

    state: _State
    changed: tuple[str, ...]
    pins: Pins
    #: The one that speaks for the hook, whatever became of it since.
    approval: Approval | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """Verdicts in the order of the hooks, and the approvals whose hook is no longer there."""

    verdicts: tuple[Verdict, ...]
    missing: tuple[Approval, ...]


def judge(hooks: Sequence[tuple[HookSpec, Pins]], approvals: Sequence[Approval]) -> Judgement:
    """Each approval speaks for one hook: first for the one it describes, then for the one in its slot."""
    free = list(approvals)
    found: dict[int, Approval] = {}
    for fits in (_same_content, _same_definition, _same_name, _same_place):
        for index, (spec, pins) in enumerate(hooks):
            if index not in found and (approval := _first(free, fits, spec, pins)) is not None:
                found[index] = approval
                free.remove(approval)
    verdicts = tuple(_verdict(found.get(index), pins) for index, (_, pins) in enumerate(hooks))
    return Judgement(verdicts=verdicts, missing=tuple(free))


def _first(
    free: Sequence[Approval], fits: Callable[[Approval, HookSpec, Pins], bool], spec: HookSpec, pins: Pins
) -> Approval | None:
    here = (a for a in free if a.file == spec.origin.file and a.event == spec.event)
    return next((approval for approval in here if fits(approval, spec, pins)), None)


def _same_content(approval: Approval, spec: HookSpec, pins: Pins) -> bool:
    return _same_definition(approval, spec, pins) and approval.files == pins.files


def _same_definition(approval: Approval, spec: HookSpec, pins: Pins) -> bool:  # one of four alike
    return approval.definition == pins.definition_digest


def _same_name(approval: Approval, spec: HookSpec, pins: Pins) -> bool:  # one of four alike
    return approval.name == spec.name


def _same_place(approval: Approval, spec: HookSpec, pins: Pins) -> bool:  # one of four alike
    return approval.pointer == spec.origin.pointer


def _verdict(approval: Approval | None, pins: Pins) -> Verdict:
    if approval is None:
        return Verdict(state="unknown", changed=(), pins=pins)
    changed = _differences(approval, pins)
    state: _State = "changed" if changed else "trusted"
    return Verdict(state=state, changed=changed, pins=pins, approval=approval)


def _differences(approval: Approval, pins: Pins) -> tuple[str, ...]:
    before, now = dict(approval.files), dict(pins.files)
    if approval.definition != pins.definition_digest:
        # Words that are new in the definition bring files along; what changed there is the definition.
        return ("definition", *(path for path in before if path in now and before[path] != now[path]))
    return tuple(sorted(path for path in before.keys() | now.keys() if before.get(path) != now.get(path)))
