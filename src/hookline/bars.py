"""What keeps a hook from running although it is written down and the event is its own: one function for each reason.

Each is asked around the one before, and what counts as a failure goes first: a guard that was changed behind a
person's back fails, whatever else there is to say of it.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, TypeAlias

from hookline.dialects.base import FOREIGN
from hookline.spec import AgentRun, Command, Function, Prompt
from hookline.switches import why

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hookline.hurdles import Barred
    from hookline.spec import HookSpec
    from hookline.switches import Switches
    from hookline.trust import TrustStore, Verdict

#: Says of a hook why it must not run now, and whether that counts as a failure; None when it may.
Bar: TypeAlias = "Callable[[HookSpec], Barred | None]"


def not_trusted(
    verdicts: Mapping[str, Verdict],
    store: TrustStore | None,
    look: str = "hookline trust",
    gone: Sequence[HookSpec] = (),
) -> Bar:
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


def left_to_the_agent(barred: Bar, theirs: Mapping[str, str]) -> Bar:
    """What the agent runs itself is left to it; a guard that was changed fails first, as with switches."""
    if not theirs:
        return barred

    def left(spec: HookSpec) -> Barred | None:
        foreign = barred(spec)
        return (theirs[spec.id], False) if spec.id in theirs and not (foreign and foreign[1]) else foreign

    return left


def switched_off(barred: Bar, switches: Switches) -> Bar:
    """What a person has switched off does not run. A guard that was changed behind their back still fails first:
    otherwise it could be given the name of a hook that is switched off."""

    def either(spec: HookSpec) -> Barred | None:
        foreign = barred(spec)
        if foreign is not None and foreign[1]:
            return foreign
        switch = switches.off(spec)
        return foreign if switch is None else (why(switch, switches.clock()), False)

    return either


def silenced_inside(barred: Bar, environ: Mapping[str, str], *, agents_door: bool) -> Bar:
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
