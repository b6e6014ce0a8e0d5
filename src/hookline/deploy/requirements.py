"""What the loaded hooks need to be registered for, and which program is registered.

What the hooks need of each file: those found here and, for a user's file, those of every project it serves.
"""

from __future__ import annotations

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, Scope, all_agents, select_agents
from hookline.core.errors import ConfigError, UsageError
from hookline.core.event import EVENTS
from hookline.core.paths import project_root
from hookline.deploy import apply, transport
from hookline.deploy.plugin import plugin_source
from hookline.deploy.registration import USUAL, Need, config_path, registrations
from hookline.dialects.base import FOREIGN
from hookline.dialects.event_lookup import native_events, unknown_event
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.gateway.derived import BASES
from hookline.gateway.notices import problem_lines, unapproved_lines

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec
    from hookline.deploy.plan import FilePlan


SCOPES: tuple[Scope, ...] = ("user", "project", "local")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentFile:
    """One file of one agent."""

    agent: Agent
    scope: Scope
    path: str


def detect_agents(home: str) -> list[Agent]:
    return [agent for agent in all_agents().values() if _is_installed(agent, home, os.environ)]


def select_files(agents: Sequence[str], scope: Scope, here: str, home: str) -> list[AgentFile]:
    """The files to look at. Raises UsageError where there is none."""
    chosen = select_agents(agents) or detect_agents(home)
    if not chosen:
        raise UsageError(f"no agent was found; name one with --agent: {', '.join(all_agents())}")
    found = list(_aims(chosen, scope, here, home))
    if not found:
        raise UsageError(f"{', '.join(agents)} has no {scope} scope; use user or project")
    return found


def _aims(chosen: Sequence[Agent], scope: Scope, here: str, home: str) -> Iterator[AgentFile]:
    for target in chosen:
        path = config_path(target, scope, project_root(here, home), home, os.environ)
        if path is not None:
            yield AgentFile(agent=target, scope=scope, path=path)


def all_files(chosen: Iterable[Agent], scopes: Sequence[Scope], here: str, home: str) -> list[AgentFile]:
    targets = list(chosen)
    found = [aim for scope in scopes for aim in _aims(targets, scope, here, home)]
    # In the home directory the project's file is the user's.
    return list({aim.path: aim for aim in reversed(found)}.values())[::-1]


#: Seconds that hookline has for itself, beside its hooks.
_OWN = 10.0
_LEAST = 60.0


def event_needs(specs: Sequence[HookSpec], only: Sequence[str] = ()) -> tuple[Need, ...]:
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
    seconds = sum(spec.timeout or 0.0 for spec in (*mine, *around)) + _OWN
    return Need(event=event, seconds=max(_LEAST, seconds), closed=any(spec.on_failure != "ignore" for spec in mine))


def merge_needs(all_of_them: Sequence[Sequence[Need]]) -> tuple[Need, ...]:
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
    native = {theirs: ours for agent in all_agents().values() for ours, theirs in native_events(agent).items()}
    unknown = [name for name in names if name not in EVENTS and name not in native]
    if unknown:
        raise unknown_event(unknown[0])
    return tuple(name if name in EVENTS else native[name] for name in names)


def _is_installed(target: Agent, home: str, environ: Mapping[str, str]) -> bool:
    """Its program is found, or its directory shows that it was used here."""
    found = shutil.which(target.program, path=environ.get("PATH"))
    return found is not None or os.path.isdir(os.path.join(home, target.home))


def _own_program() -> str:
    """The absolute path of the command that agents shall call."""
    candidates = (sys.argv[0], os.path.join(sysconfig.get_path("scripts"), "hookline"), shutil.which("hookline") or "")
    for candidate in candidates:
        path = os.path.abspath(candidate) if candidate else ""
        if os.path.basename(path) == "hookline" and os.path.isfile(path) and os.access(path, os.X_OK):
            return path
    raise ConfigError("the hookline command is not installed: pip install hookline, then deploy with it")


#: Projects that are remembered of a user's file.
_MOST_ROOTS = 100


class Requirements:
    """``plan`` is what deploying would write into a file, ``roots`` the projects that it would serve."""

    def __init__(
        self,
        *,
        here: str,
        home: str,
        known: Mapping[str, apply.DeployedFile],
        only: Sequence[str] = (),
        anew: bool = False,
        door: str = "",
        build: bool = False,
        forecast: bool = False,
    ) -> None:
        """``only`` are the events that are asked for; without them all are, or, unless ``anew``, those of last time.

        ``door`` is the one that is asked for; without it, that of last time. What it needs is made with ``build``,
        and with ``forecast`` taken for made.
        """
        self._door, self._build, self._forecast = door, build, forecast
        self.here, self.home, self.known = here, home, known
        self._only, self._anew = tuple(only), anew
        self._program = _own_program()
        assembly = load_runtime(Sources(cwd=here), READ_ONLY)
        assembly.engine.close()
        specs = assembly.loaded.specs
        #: What could not be loaded: a guard among them is registered for nothing.
        self.problems = (*problem_lines(assembly), *unapproved_lines(assembly))
        self._specs = specs
        self._root = project_root(here, home) if any(spec.origin.layer in FOREIGN for spec in specs) else ""
        self._others: dict[str, Sequence[Need]] = {}

    def roots(self, aim: AgentFile) -> tuple[str, ...]:
        """The projects whose hooks this file serves, this one last."""
        kept = self.known.get(aim.path)
        old = kept.roots if kept is not None and aim.scope == "user" else ()
        found = [root for root in old if root != self._root and os.path.isdir(root)]
        return (*found[-_MOST_ROOTS:], *([self._root] if self._root else ()))

    def plan(self, aim: AgentFile) -> FilePlan:
        target, needs = aim.agent, self._needs_of(aim)
        if target.form == "plugin":
            return apply.plan_deployment(aim.path, target.form, plugin_source(target, self._program, needs, aim.scope))
        return apply.plan_deployment(
            aim.path, target.form, registrations(target, self._called_program(aim), needs, aim.scope)
        )

    def door(self, aim: AgentFile) -> str:
        """The one that was asked for, now or last time; "" where nobody has chosen."""
        kept = self.known.get(aim.path)
        return self._door or (kept.door if kept is not None else "")

    def way(self, aim: AgentFile) -> str:
        """Which door it came to: a key of ``doors.SAID``."""
        return transport.transport_name(aim.agent, self._called_program(aim), self._program)

    def _called_program(self, aim: AgentFile) -> str:
        if aim.agent.form == "plugin":  # it has a way of its own
            return self._program
        return transport.client_program(
            self.door(aim), self._program, os.environ, build=self._build, forecast=self._forecast
        )

    def only(self, aim: AgentFile) -> tuple[str, ...]:
        """The events that were asked for; none where all are."""
        kept = self.known.get(aim.path)
        return self._only or (kept.only if kept is not None and not self._anew else ())

    def _needs_of(self, aim: AgentFile) -> Sequence[Need]:
        only = self.only(aim)
        mine = event_needs(self._specs, only)
        if aim.scope != "user":
            return mine
        others = merge_needs([mine, *(self._there(root) for root in self.roots(aim) if root != self._root)])
        return tuple(need for need in others if not only or need.event in only)

    def _there(self, root: str) -> Sequence[Need]:
        if root not in self._others:
            assembly = load_runtime(Sources(cwd=root), READ_ONLY)
            assembly.engine.close()
            self._others[root] = event_needs(assembly.loaded.specs)
        return self._others[root]
