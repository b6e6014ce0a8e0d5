"""One agent: is it here, is hookline registered, would the agent run it, and does an event get through?"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.deploy.agent_trust import TrustContext, trust_checks
from hookline.deploy.installed import find_registrations
from hookline.deploy.status import posts
from hookline.doctor.finding import Finding, fine, note, wrong
from hookline.doctor.probe_events import probe_all, probe_plugin

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hookline.core.agents import Agent
    from hookline.deploy.selection import AgentFile
    from hookline.deploy.status import RegistrationStatus
    from hookline.doctor.finding import Level
    from hookline.doctor.probe_events import Probed, World


_LEVELS: Mapping[str, Level] = MappingProxyType({"trusted": "fine", "untrusted": "wrong", "unknown": "note"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInstall:
    """An agent with its program and version ("" where they are not found), and its registrations in every scope."""

    target: Agent
    program: str
    version: str
    scopes: Sequence[tuple[AgentFile, RegistrationStatus]]
    #: What ``deploy --status`` says of all its scopes together.
    doubled: Sequence[str] = ()

    @property
    def deployed(self) -> list[tuple[AgentFile, RegistrationStatus]]:
        return [(aim, one) for aim, one in self.scopes if one.events]


def agent_findings(patient: AgentInstall, project: str, home: str, world: World) -> list[Finding]:
    return [*_installed(patient), *_registered(patient), *_deeper(patient, project, home, world)]


def _installed(patient: AgentInstall) -> Iterator[Finding]:
    if not patient.program:
        yield note("version", f"{patient.target.program} is not found in PATH")
    elif patient.version:
        yield fine("version", f"{patient.version} ({patient.program})")
    else:
        yield wrong("version", f"{patient.program} does not tell its version", f"{patient.program} --version")


def _registered(patient: AgentInstall) -> Iterator[Finding]:
    agent = patient.target.name
    if not patient.deployed:
        say = wrong if patient.program else note
        yield say("deployed", "hookline is not registered", f"hookline deploy --agent {agent}")
    for aim, one in patient.scopes:
        if one.events:
            yield fine("deployed", f"{len(one.events)} events in the scope {aim.scope}: {aim.path}")
        for finding in one.findings:
            yield wrong("deployed", finding)
    for line in patient.doubled:
        yield note("deployed", line)


def _deeper(patient: AgentInstall, project: str, home: str, world: World) -> Iterator[Finding]:
    for aim, _standing in patient.deployed:
        around = TrustContext(project=project, home=home, environ=world.environ, program=patient.program)
        for trust in trust_checks(aim, around):
            yield Finding(level=_LEVELS[trust.state], about="trust", text=trust.why, next=trust.next)
        try:
            yield from _probed(aim, world)
        except StateError as error:  # the question is a file in the state directory
            yield wrong("probe", f"nothing can be tried: {error}", f"ls -ld {world.state}")


def _probed(aim: AgentFile, world: World) -> Iterator[Finding]:
    again = f"hookline deploy --agent {aim.agent.name} --scope {aim.scope}"
    there = find_registrations(aim.path)
    if posted := [entry.event for entry in there if posts(entry)]:
        yield wrong("probe", f"{', '.join(posted)}: posted over HTTP, where hookline no longer listens", again)
    results = probe_all(aim.agent, [entry for entry in there if not posts(entry)], world)
    for one in results:
        if one.error:
            yield wrong("probe", f"{one.event}: {one.error}", again)
    good = [one for one in results if not one.error]
    if good:
        slowest = max(one.ms for one in good)
        text = f"{len(good)} of {len(results)} events get through and are answered (slowest {slowest:.0f} ms)"
        yield fine("probe", f"{text}{_hooks_of(good)}")
    if aim.agent.form == "plugin" and good and (error := probe_plugin(aim.agent, aim.path, world)):
        yield wrong("probe", f"the plugin itself: {error}", again)


def _hooks_of(good: Sequence[Probed]) -> str:
    """Which hooks would have run, so that nobody takes an empty set of hooks for a working guard."""
    running = dict.fromkeys(name for one in good for name, why in one.hooks.items() if not why)
    return f"; hooks that would run: {', '.join(running)}" if running else "; no hook would run"
