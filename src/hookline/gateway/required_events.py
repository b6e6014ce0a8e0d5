"""Which events of an agent must reach hookline, and what for.

Every registered event costs the agent a process each time it happens, so only those are registered that a hook listens
to, and those without which such a hook could not do what it says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from hookline.core._dataclass import dataclass
from hookline.core.agents import Agent, Scope
from hookline.core.event import EVENTS, GUARDED
from hookline.core.files import read_text
from hookline.core.hook import Gates, HookSpec
from hookline.core.own_registration import entry_events
from hookline.core.paths import project_root
from hookline.dialects.event_lookup import native_events
from hookline.engine.build import Runtime
from hookline.engine.eligibility import block_agents_own
from hookline.engine.match import is_named
from hookline.gateway.derived import BASES


def active_hooks(runtime: Runtime) -> tuple[HookSpec, ...]:
    """Hooks that can run: the person's own, and those of the project that were approved, whatever became of them since."""
    return tuple(
        spec
        for spec in runtime.engine.specs
        if spec.enabled
        and (
            (verdict := runtime.verdicts.get(spec.extra.get("plugin", spec.id))) is None or verdict.approval is not None
        )
    )


def empty_events(runtime: Runtime) -> frozenset[str]:
    """Events that the person's file declares without hooks (``scripts = []``): only a hook of their own needs them."""
    return frozenset(one.name for one in runtime.loaded.problems if one.code == "no-hooks")


def event_reasons(
    specs: Iterable[HookSpec], agent: Agent, unwanted: frozenset[str] = frozenset()
) -> Mapping[str, tuple[str, ...]]:
    """Canonical event -> why it is needed, in the order of the table of events."""
    found: dict[str, dict[str, None]] = {}
    for spec in specs:
        if not spec.enabled or (spec.gates.agent and not is_named(agent.name, spec.gates.agent)):
            continue
        for event, reason in _reasons(spec, agent):
            if event == spec.event or event not in unwanted:
                found.setdefault(event, {})[reason] = None
    return {event: tuple(found[event]) for event in EVENTS if event in found}


#: Bytes of an agent's settings file that are read.
_LARGEST = 1 << 22
_SCOPES: tuple[Scope, ...] = ("user", "project", "local")


@dataclass(frozen=True, slots=True, kw_only=True)
class Unregistered:
    """Events that hooks need and for which no agent calls hookline, so those hooks do not run."""

    #: A file that calls hookline for other events.
    path: str
    finding: str
    #: The command that helps, and what it does.
    fix: str
    does: str = "register it"

    def __str__(self) -> str:
        return f"{self.finding}; to {self.does}: {self.fix}"


def missing_events(
    specs: Iterable[HookSpec],
    agents: Iterable[Agent],
    cwd: str,
    home: str,
    environ: Mapping[str, str],
    *,
    unwanted: frozenset[str] = frozenset(),
) -> Iterator[Unregistered]:
    """One for each agent that calls hookline, but not for all that its hooks need."""
    hooks, root = tuple(specs), project_root(cwd, home)
    for agent in agents:
        known = _registered(agent, root, home, environ)
        if not known:
            continue
        there, native = frozenset[str]().union(*known.values()), native_events(agent)
        own = block_agents_own(agent.name, hooks, cwd, home, environ)  # the agent runs them without us
        needed = event_reasons((spec for spec in hooks if spec.id not in own), agent, unwanted)
        missing = {event: why for event, why in needed.items() if event in native and native[event] not in there}
        if missing:
            scope, path = next(iter(known))
            option = "" if scope == "user" else f" --scope {scope}"
            yield Unregistered(
                path=path, finding=f"{agent.title} does not call hookline for {_list(missing)}",
                fix=f"hookline deploy --agent {agent.name}{option}",
            )  # fmt: skip


def events_without_sender(
    specs: Iterable[HookSpec], agents: Iterable[Agent], cwd: str, home: str, environ: Mapping[str, str]
) -> Iterator[Unregistered]:
    """What hooks listen to and none of the agents that call hookline ever fires."""
    root = project_root(cwd, home)
    calling = {agent.name: agent for agent in agents if _registered(agent, root, home, environ)}
    fired = {event for agent in calling.values() for event in native_events(agent)}
    fired |= {event for event, bases in BASES.items() if not fired.isdisjoint(bases)}
    titles = ", ".join(agent.title for agent in calling.values())
    for spec in specs if calling else ():
        kind = EVENTS.get(spec.event)
        if spec.enabled and kind is not None and kind.family == "agent" and kind.name not in fired:
            finding = f"none of the registered agents ({titles}) fires {kind.name} (hook {spec.name})"
            fix = f"hookline explain {kind.name} --agent all"
            yield Unregistered(path=spec.origin.file, finding=finding, fix=fix, does="see which agents do")


def scopes_by_agent(agents: Iterable[Agent], cwd: str, home: str, environ: Mapping[str, str]) -> dict[str, Scope]:
    """The agents that call hookline, each with the scope of the first file that does."""
    root = project_root(cwd, home)
    found = ((agent.name, _registered(agent, root, home, environ)) for agent in agents)
    return {name: next(iter(known))[0] for name, known in found if known}


def _registered(
    agent: Agent, root: str, home: str, environ: Mapping[str, str]
) -> dict[tuple[Scope, str], frozenset[str]]:
    """Scope and path of its files that call hookline, with the events for which they do."""
    paths: list[tuple[Scope, str]] = [
        (scope, path) for scope in _SCOPES if (path := agent.config_path(scope, root, home, environ)) is not None
    ]
    found = {one: entry_events(text) for one in paths if (text := read_text(one[1], _LARGEST))}
    return {one: events for one, events in found.items() if events}


def _list(events: Mapping[str, tuple[str, ...]]) -> str:
    return "; ".join(f"{event} ({', '.join(why)})" for event, why in events.items())


def _reasons(spec: HookSpec, agent: Agent) -> Iterable[tuple[str, str]]:
    event, name = spec.event, spec.name
    yield event, f"hook {name}"
    for base in BASES.get(event, ()):
        if base != "PostToolUse" or agent.failures != "event":
            yield base, f"to derive {event} for hook {name}"
    if event in GUARDED:
        yield "SessionStart", "to report at the start of a session what is wrong with a guard"
    if event != "UserPromptSubmit" and _counts_turns(spec.gates, event):
        yield "UserPromptSubmit", f"to count turns for hook {name}"
    if event in EVENTS and EVENTS[event].continues and not agent.marks_continuation:
        yield "UserPromptSubmit", f"to know when a new turn begins, for the loop limit of {event}"


def _counts_turns(gates: Gates, event: str) -> bool:
    reads_prompt = bool(gates.message_contains) and event in EVENTS and EVENTS[event].message is None
    return bool(gates.every_n_turns or gates.min_turn or gates.first_turn_unless or gates.needs_turn or reads_prompt)
