"""What the loaded hooks need to be registered for, and which program is registered."""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from typing import TYPE_CHECKING

from hookline.deploy.targets import TARGETS, USUAL, Need
from hookline.derive import BASES
from hookline.errors import ConfigError
from hookline.event import EVENTS
from hookline.event_names import unknown_event

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.deploy.targets import Target
    from hookline.spec import HookSpec

#: Seconds that hookline has for itself, beside its hooks.
OWN = 10.0
LEAST = 60.0


def needs_of(specs: Sequence[HookSpec], only: Sequence[str] = ()) -> tuple[Need, ...]:
    """The usual events and those that hooks listen to, in the order of the table of events; ``only`` narrows them."""
    heard = {spec.event for spec in specs if spec.enabled}
    named = frozenset(only) if only else heard.union(USUAL)
    wanted = named.union(*(BASES.get(event, ()) for event in named & heard))
    return tuple(_need(event, specs) for event in EVENTS if event in wanted)


def _need(event: str, specs: Sequence[HookSpec]) -> Need:
    """Hooks of an event that is made up at this one run in its time; whether it may fail is not up to them."""
    mine = [spec for spec in specs if spec.enabled and spec.event == event]
    around = [spec for spec in specs if spec.enabled and event in BASES.get(spec.event, ())]
    # One after the other, in the worst case: the agent must not give up before the last of them had its time.
    seconds = sum(spec.timeout or 0.0 for spec in (*mine, *around)) + OWN
    return Need(event=event, seconds=max(LEAST, seconds), closed=any(spec.on_failure != "ignore" for spec in mine))


def merged(all_of_them: Sequence[Sequence[Need]]) -> tuple[Need, ...]:
    """What serves several projects at once: every event of any of them, the longest time, and closed if one asks for it.

    Otherwise deploying for the user from one project would take away what guards another.
    """
    found: dict[str, Need] = {}
    for need in (one for needs in all_of_them for one in needs):
        old = found.get(need.event)
        seconds, closed = (need.seconds, need.closed) if old is None else (old.seconds, old.closed)
        found[need.event] = Need(event=need.event, seconds=max(seconds, need.seconds), closed=closed or need.closed)
    return tuple(found[event] for event in EVENTS if event in found)


def canonical_events(names: Sequence[str]) -> tuple[str, ...]:
    """Canonical names, or those of any agent."""
    native = {theirs: ours for target in TARGETS.values() for ours, theirs in target.renamed.items()}
    unknown = [name for name in names if name not in EVENTS and name not in native]
    if unknown:
        raise unknown_event(unknown[0])
    return tuple(name if name in EVENTS else native[name] for name in names)


def installed(target: Target, home: str, environ: Mapping[str, str]) -> bool:
    """Its program is found, or its directory shows that it was used here."""
    found = shutil.which(target.program, path=environ.get("PATH"))
    return found is not None or os.path.isdir(os.path.join(home, target.home))


def own_program() -> str:
    """The absolute path of the command that agents shall call."""
    candidates = (sys.argv[0], os.path.join(sysconfig.get_path("scripts"), "hookline"), shutil.which("hookline") or "")
    for candidate in candidates:
        path = os.path.abspath(candidate) if candidate else ""
        if os.path.basename(path) == "hookline" and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise ConfigError("the hookline command is not installed: pip install hookline, then deploy with it")
