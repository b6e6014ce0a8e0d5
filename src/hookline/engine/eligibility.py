"""What keeps a hook from being run whose matcher fits: gates, claims, bars and budgets.

``settled`` is asked when it is the hook's turn, ``why_not`` by who only wants to know; they ask the same of the same,
so that what would happen and what happens cannot differ.

What keeps a hook from running although it is written down and the event is its own: one function for each reason.

Each is asked around the one before, and what counts as a failure goes first: a guard that was changed behind a
person's back fails, whatever else there is to say of it.
Hooks that the agent which asks runs itself: those of its own files, where a source names them too.

For every other agent such a source is how these hooks reach it. For their own agent it would be the second time.

A hook that is left out here must be one that really runs there, so what a repository can set decides nothing for a
person's own sources: of the person's files only that in its usual place counts, and not where a variable of the agent
says that it is elsewhere. In doubt a hook runs twice.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Protocol, TypeAlias

from hookline.core._dataclass import dataclass
from hookline.core.hook import AgentRun, Command, Function, Prompt
from hookline.core.result import Failed, Skipped
from hookline.dialects import ALIASES, RUN_BY_THEMSELVES, dialect_named
from hookline.dialects.base import FOREIGN
from hookline.state.disabled import why

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import Outcome
    from hookline.engine.fold import State
    from hookline.engine.match import Selection
    from hookline.state.disabled import Switches
    from hookline.state.sessions import Sessions
    from hookline.state.trust import TrustStore, Verdict


#: Why a hook must not run, and whether that counts as a failure: ("not trusted", False).
Barred = tuple[str, bool]


class _Keepers(Protocol):
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


def settled(spec: HookSpec, event: Event, selection: Selection, state: State, keepers: _Keepers) -> Outcome | None:
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


def _barred(spec: HookSpec, cwd: str, keepers: _Keepers) -> Barred | None:
    barred = keepers.barred(spec)
    return barred if barred is not None or keepers.misplaced is None else keepers.misplaced(spec, cwd)


def why_not(spec: HookSpec, event: Event, unmatched: str, keepers: _Keepers) -> str:
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


#: Says of a hook why it must not run now, and whether that counts as a failure; None when it may.
_Bar: TypeAlias = "Callable[[HookSpec], Barred | None]"


def not_trusted(
    verdicts: Mapping[str, Verdict],
    store: TrustStore | None,
    look: str = "hookline trust",
    gone: Sequence[HookSpec] = (),
) -> _Bar:
    """A hook that was never trusted does not run; one that changed since counts as failed.

    Otherwise an agent could switch off a guard by editing it. ``look`` is the command that shows these hooks.
    """
    no_more = {spec.id for spec in gone}

    def barred(spec: HookSpec) -> Barred | None:
        if spec.id in no_more:
            return f"was trusted and is gone from {spec.origin.file}; look at it with: {look}", True
        # What stands in for a change that is not trusted has the identity of the change, and is one's own.
        if spec.origin.layer not in FOREIGN:
            return None
        # A plugin's hooks are approved with the plugin that registered them.
        verdict = verdicts.get(spec.extra.get("plugin", spec.id))
        if verdict is None:
            return None
        if verdict.state == "unknown" and store is not None and store.note:
            return store.note, True  # it may have been trusted: what must hold does not give way to a bad disk
        if verdict.state == "unknown":
            return f"not trusted yet; look at it with: {look}", False
        changed = verdict.changed or (() if store is None or store.still_valid(verdict.pins) else ("its files",))
        if changed:
            return f"changed since it was trusted ({', '.join(changed)}); look at it with: {look}", True
        return None

    return barred


def left_to_the_agent(barred: _Bar, theirs: Mapping[str, str]) -> _Bar:
    """What the agent runs itself is left to it; a guard that was changed fails first, as with switches."""
    if not theirs:
        return barred

    def left(spec: HookSpec) -> Barred | None:
        foreign = barred(spec)
        return (theirs[spec.id], False) if spec.id in theirs and not (foreign and foreign[1]) else foreign

    return left


def switched_off(barred: _Bar, switches: Switches) -> _Bar:
    """What a person has switched off does not run. A guard that was changed behind their back still fails first:
    otherwise it could be given the name of a hook that is switched off."""

    def either(spec: HookSpec) -> Barred | None:
        foreign = barred(spec)
        if foreign is not None and foreign[1]:
            return foreign
        switch = switches.off(spec)
        return foreign if switch is None else (why(switch, switches.clock()), False)

    return either


def silenced_inside(barred: _Bar, environ: Mapping[str, str], *, agents_door: bool) -> _Bar:
    """Inside a hook's own agent no hooks run, or agents would ask agents without end.

    At the agents' door a repository's settings could set the variable to switch off a guard; there it holds back only
    the hooks that ask a model.
    """
    if environ.get("HOOKLINE_NO_HOOKS") != "1":
        return barred

    def silenced(spec: HookSpec) -> Barred | None:
        if agents_door and not isinstance(spec.action, (AgentRun, Prompt)):
            return barred(spec)
        return "hooks are off inside a hook's own agent (HOOKLINE_NO_HOOKS)", False

    return silenced


def meaning_other_files(verdicts: Mapping[str, Verdict], root: str) -> Callable[[HookSpec, str], Barred | None]:
    """A hook's relative words mean files of the directory it runs in; those must be the files that were approved.

    Otherwise a second guard.sh, in a directory the agent works in, would run under the name of the first.
    """

    def misplaced(spec: HookSpec, cwd: str) -> Barred | None:
        verdict = verdicts.get(spec.id)
        if verdict is None or cwd == root:
            return None
        for path, _digest in verdict.pins.files:
            other = os.path.join(cwd, path)
            if not _found_from_the_root(spec, path) and os.path.lexists(other) and not _same(other, root, path):
                return (
                    f"{path} means another file in {cwd} than the one that was trusted; call it by its full path",
                    True,
                )
        return None

    return misplaced


def _found_from_the_root(spec: HookSpec, path: str) -> bool:
    """Our own ``run`` looks its program up in the project's root, and Python modules in their base, wherever it runs."""
    action = spec.action
    if isinstance(action, Command) and action.form == "argv" and spec.dialect == "native":
        return os.path.normpath(action.argv[0]) == path
    return isinstance(action, Function)


def _same(other: str, root: str, path: str) -> bool:
    return os.path.realpath(other) == os.path.realpath(os.path.join(root, path))


def run_by(agent: str, specs: Iterable[HookSpec], cwd: str, home: str, environ: Mapping[str, str]) -> Mapping[str, str]:
    """By the hooks' ids, why they are left to ``agent``."""
    variable = RUN_BY_THEMSELVES.get(ALIASES.get(agent, agent))
    borrowed = [spec for spec in specs if spec.dialect != "native"]
    if variable is None or not borrowed:
        return {}
    started_in = environ.get(variable, "") if variable else ""
    user, project = _files(agent, started_in if os.path.isabs(started_in) else cwd, home, environ)
    found: dict[str, str] = {}
    for spec in borrowed:
        file = os.path.realpath(spec.origin.file)
        if file in user or (file in project and spec.origin.layer in FOREIGN):
            found[spec.id] = f"{agent} runs it itself, from {spec.origin.file}"
    return found


def _files(agent: str, cwd: str, home: str, environ: Mapping[str, str]) -> tuple[set[str], set[str]]:
    """The person's and the project's files that the agent reads."""
    places = dialect_named(agent).places
    usual = {os.path.realpath(one.path) for one in places(cwd, home, {}) if one.layer not in FOREIGN}
    now = [(os.path.realpath(one.path), one.layer) for one in places(cwd, home, environ)]
    user = {path for path, layer in now if layer not in FOREIGN}
    return usual & user, {path for path, layer in now if layer in FOREIGN}
