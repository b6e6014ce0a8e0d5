"""What keeps a hook from being run whose matcher fits: gates, claims, bars and budgets.

``settled`` is asked when it is the hook's turn, ``why_not`` by who only wants to know; they ask the same of the same,
so that what would happen and what happens cannot differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hookline.dataclass import dataclass
from hookline.result import Failed, Skipped

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.event import Event
    from hookline.fold import State
    from hookline.match import Selection
    from hookline.result import Outcome
    from hookline.session import Sessions
    from hookline.spec import HookSpec

#: Why a hook must not run, and whether that counts as a failure: ("not trusted", False).
Barred = tuple[str, bool]


class Keepers(Protocol):
    """Those who may keep a hook back; an engine has them."""

    @property
    def sessions(self) -> Sessions: ...
    @property
    def barred(self) -> Callable[[HookSpec], Barred | None]: ...
    @property
    def misplaced(self) -> Callable[[HookSpec, str], Barred | None] | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """What would become of one hook if the event were fired: ``why`` is "" when it would run."""

    spec: HookSpec
    why: str


def settled(spec: HookSpec, event: Event, selection: Selection, state: State, keepers: Keepers) -> Outcome | None:
    """The outcome of a hook that need not be run to know it; None if it must be."""
    if state.stopped:
        why = "the run was ended by an earlier hook" if state.aborted else "an earlier hook refused"
        return Skipped(id=spec.id, hook=spec.name, error=why)
    if not selection.plain:
        if selection.broken and spec.id in selection.broken:
            return Failed(id=spec.id, hook=spec.name, error=selection.broken[spec.id])
        if why := _held(spec, event, selection, keepers.sessions):
            return Skipped(id=spec.id, hook=spec.name, error=why)
    barred = _barred(spec, event.cwd, keepers)
    if barred is None:
        return None
    kind = Failed if barred[1] else Skipped
    return kind(id=spec.id, hook=spec.name, error=barred[0])


def _barred(spec: HookSpec, cwd: str, keepers: Keepers) -> Barred | None:
    barred = keepers.barred(spec)
    return barred if barred is not None or keepers.misplaced is None else keepers.misplaced(spec, cwd)


def why_not(spec: HookSpec, event: Event, unmatched: str, keepers: Keepers) -> str:
    """Missing trust comes first: it holds whatever the hook is tried on, and is what a person can mend.

    ``unmatched`` is what ``match`` says against it.
    """
    barred = _barred(spec, event.cwd, keepers)
    if barred is not None:
        failing = f"; until then it counts as failed, and on_failure is {spec.on_failure}" if barred[1] else ""
        return f"{barred[0]}; besides, {unmatched}" if unmatched else f"{barred[0]}{failing}"
    return unmatched or _claimed(keepers.sessions.would_claim, spec, event)


def _claimed(claim: Callable[..., str], spec: HookSpec, event: Event) -> str:
    """What the session says against it. ``claim`` is its ``claim``, which counts, or its ``would_claim``."""
    gates = spec.gates
    if not gates.claims:
        return ""
    return claim(
        event.session,
        spec.id,
        once=gates.once_per_session,
        debounce=gates.debounce,
        max_per_minute=gates.max_per_minute,
        now=event.time,
    )


def _held(spec: HookSpec, event: Event, selection: Selection, sessions: Sessions) -> str:
    """A hook that claims first has had its turn even where a gate holds it."""
    why = selection.held.get(spec.id, "") if selection.held else ""
    if not why or (spec.gates.claim_first and not event.data.get("auto_submit")):
        taken = _claimed(sessions.claim, spec, event)
        why = why or taken
    return why
