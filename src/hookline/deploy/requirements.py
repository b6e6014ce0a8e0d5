"""What the loaded hooks need to be registered for, and which program is registered.

What the hooks need of each file: those found here and, for a user's file, those of every project it serves.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, Scope, all_agents, select_agents
from hookline.core.errors import UsageError
from hookline.core.event import EVENTS
from hookline.core.paths import Directories, find_paths, project_root
from hookline.daemon.protocol import find_daemon_paths
from hookline.deploy import apply, transport
from hookline.deploy.installed import find_registrations
from hookline.deploy.plugin import plugin_source
from hookline.deploy.profiles import PROFILED, profile_files
from hookline.deploy.registration import EntryCaller, registrations
from hookline.dialects.base import FOREIGN
from hookline.dialects.event_lookup import native_events, unknown_event
from hookline.engine.build import READ_ONLY, Sources, load_runtime
from hookline.engine.lint import lint
from hookline.engine.lint_matchers import server_problems
from hookline.gateway.derived import BASES
from hookline.gateway.notices import approval_lines, problem_lines
from hookline.gateway.required_events import active_hooks, empty_events, event_reasons

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
        one = chosen[0]
        raise UsageError(f"{one.name} has no {scope} scope; it has: {', '.join(one.files)}")
    return found


def _aims(chosen: Sequence[Agent], scope: Scope, here: str, home: str) -> Iterator[AgentFile]:
    for target in chosen:
        path = target.config_path(scope, project_root(here, home), home, os.environ)
        if path is None:
            continue
        yield AgentFile(agent=target, scope=scope, path=path)
        if scope == "user" and target.name == PROFILED:
            for more in profile_files(os.path.basename(path), home, os.environ):
                if os.path.realpath(more) != os.path.realpath(path):
                    yield AgentFile(agent=target, scope=scope, path=more)


def all_files(chosen: Iterable[Agent], scopes: Sequence[Scope], here: str, home: str) -> list[AgentFile]:
    targets = list(chosen)
    found = [aim for scope in scopes for aim in _aims(targets, scope, here, home)]
    # In the home directory the project's file is the user's.
    return list({aim.path: aim for aim in reversed(found)}.values())[::-1]


def canonical_events(names: Sequence[str]) -> tuple[str, ...]:
    """Canonical names, or those of any agent."""
    native = {theirs: ours for agent in all_agents().values() for ours, theirs in native_events(agent).items()}
    unknown = [name for name in names if name not in EVENTS and name not in native]
    if unknown:
        raise unknown_event(unknown[0])
    return tuple(name if name in EVENTS else native[name] for name in names)


def _is_installed(target: Agent, home: str, environ: Mapping[str, str]) -> bool:
    """Its program is found, its directory shows that it was used here, or a profile names another one."""
    if shutil.which(target.program, path=environ.get("PATH")) or os.path.isdir(os.path.join(home, target.home)):
        return True
    return target.name == PROFILED and bool(profile_files("", home, environ))


#: Why an event is registered that no hook listens to.
_ASKED = "asked for with --events"
_KEPT = "registered before; kept, because not all hooks could be loaded"

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
        self._directories = Directories(home=home, paths=find_paths(os.environ, home))
        runtime = load_runtime(Sources(cwd=here), READ_ONLY)
        runtime.engine.close()
        #: What could not be loaded or is not approved: a guard may be among it.
        self.problems = (
            *problem_lines(runtime),
            *approval_lines(runtime),
            *map(str, lint(runtime.loaded.specs, here, os.environ)),
        )
        self._is_partial = any(one.severity == "error" for one in runtime.loaded.problems)
        self._hooks = active_hooks(runtime)
        self._unwanted = empty_events(runtime)
        foreign = any(spec.origin.layer in FOREIGN for spec in self._hooks)
        self._root = project_root(here, home) if foreign else ""
        self._others: dict[str, tuple[HookSpec, ...]] = {}

    def roots(self, aim: AgentFile) -> tuple[str, ...]:
        """The projects whose hooks this file serves, this one last."""
        kept = self.known.get(aim.path)
        old = kept.roots if kept is not None and aim.scope == "user" else ()
        found = [root for root in old if root != self._root and os.path.isdir(root)]
        return (*found[-_MOST_ROOTS:], *([self._root] if self._root else ()))

    def warnings(self, aim: AgentFile) -> list[str]:
        """Hooks that never run in this agent."""
        return [str(one) for one in server_problems(self._hooks, aim.agent)]

    def plan(self, aim: AgentFile) -> FilePlan:
        target, events = aim.agent, self.events(aim)
        if not events:
            return apply.plan_removal(aim.path, target, self.known.get(aim.path))
        caller = self._caller(aim)
        if target.form == "plugin":
            return apply.plan_deployment(aim.path, target, plugin_source(target, caller, events))
        return apply.plan_deployment(aim.path, target, registrations(target, caller, events))

    def door(self, aim: AgentFile) -> str:
        """The one that was asked for, now or last time; "" where nobody has chosen."""
        kept = self.known.get(aim.path)
        return self._door or (kept.door if kept is not None else "")

    def way(self, aim: AgentFile) -> str:
        """Which door it came to: a key of ``transport.DESCRIPTIONS``."""
        if aim.scope == "project":
            return "socket" if aim.agent.form == "plugin" else "path"
        return transport.transport_name(aim.agent, self._program(aim), os.environ)

    def _caller(self, aim: AgentFile) -> EntryCaller:
        """A project's file is committed: it names nothing of one person's machine."""
        if aim.scope == "project":
            return EntryCaller(program="hookline", scope=aim.scope, file=aim.agent.files[aim.scope])
        place = find_daemon_paths(os.environ).directory
        return EntryCaller(
            program=self._program(aim), scope=aim.scope, directories=self._directories, file=aim.path,
            runtime_dir=os.path.dirname(place) if os.path.basename(place) == "hookline" else "",
        )  # fmt: skip

    def _program(self, aim: AgentFile) -> str:
        return transport.entry_program(
            aim.agent, self.door(aim), os.environ, build=self._build, forecast=self._forecast
        )

    def only(self, aim: AgentFile) -> tuple[str, ...]:
        """The events that were asked for; none where all are."""
        kept = self.known.get(aim.path)
        return self._only or (kept.only if kept is not None and not self._anew else ())

    def events(self, aim: AgentFile) -> Mapping[str, tuple[str, ...]]:
        """Canonical event -> why it is registered. A user's file serves every project it was deployed from: otherwise
        deploying from one project would take away what guards another."""
        hooks = list(self._hooks)
        if aim.scope == "user":
            hooks += [hook for root in self.roots(aim) if root != self._root for hook in self._hooks_of(root)]
        needed = event_reasons(hooks, aim.agent, self._unwanted)
        if only := self.only(aim):
            return _narrowed(needed, only)
        native = native_events(aim.agent)
        kept = {entry.event for entry in find_registrations(aim.path)} if self._is_partial else set()
        old = {event: (_KEPT,) for event, theirs in native.items() if theirs in kept}
        return {event: why for event, why in {**old, **needed}.items() if event in native}

    def _hooks_of(self, root: str) -> tuple[HookSpec, ...]:
        if root not in self._others:
            runtime = load_runtime(Sources(cwd=root), READ_ONLY)
            runtime.engine.close()
            self._others[root] = active_hooks(runtime)
        return self._others[root]


def _narrowed(needed: Mapping[str, tuple[str, ...]], only: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """The events that were asked for, and those that they are derived from."""
    wanted = {*only, *(base for event in only if event in needed for base in BASES.get(event, ()))}
    return {event: needed.get(event, (_ASKED,)) for event in EVENTS if event in wanted}
