"""Check one agent: is it installed, is hookline registered and trusted, does an event get through?"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.deploy.agent_trust import TrustContext, trust_checks
from hookline.deploy.installed import find_registrations
from hookline.deploy.status import RegistrationStatus, posts
from hookline.doctor.finding import Finding, Level, fine, note, wrong
from hookline.doctor.probe_events import Probed, World, probe_all, probe_plugin

if TYPE_CHECKING:
    from hookline.core.agents import Agent
    from hookline.deploy.requirements import AgentFile


_LEVELS: Mapping[str, Level] = MappingProxyType({"trusted": "fine", "untrusted": "wrong", "unknown": "note"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentInstall:
    """An agent with its program and version ("" where they are not found), and its registrations in every scope."""

    target: Agent
    program: str
    version: str
    scopes: Sequence[tuple[AgentFile, RegistrationStatus]]
    #: Findings about all its scopes together.
    doubled: Sequence[str] = ()

    @property
    def deployed(self) -> list[tuple[AgentFile, RegistrationStatus]]:
        return [(aim, one) for aim, one in self.scopes if one.events]


def agent_findings(install: AgentInstall, project: str, home: str, world: World) -> list[Finding]:
    return [*_version(install), *_registration(install), *_trust_and_probe(install, project, home, world)]


def _version(install: AgentInstall) -> Iterator[Finding]:
    if not install.program:
        yield note("version", f"{install.target.program} is not found in PATH")
    elif install.version:
        yield fine("version", f"{install.version} ({install.program})")
    else:
        yield wrong("version", f"{install.program} --version prints no version", f"{install.program} --version")


def _registration(install: AgentInstall) -> Iterator[Finding]:
    agent = install.target.name
    if not install.deployed:
        say = wrong if install.program else note
        yield say("deployed", "hookline is not registered", f"hookline deploy --agent {agent}")
    for aim, one in install.scopes:
        if one.events:
            yield fine("deployed", f"{len(one.events)} events registered ({aim.scope}): {aim.path}")
        for finding in one.findings:
            yield wrong("deployed", finding)
    for line in install.doubled:
        yield note("deployed", line)


def _trust_and_probe(install: AgentInstall, project: str, home: str, world: World) -> Iterator[Finding]:
    for aim, _standing in install.deployed:
        around = TrustContext(project=project, home=home, environ=world.environ, program=install.program)
        for trust in trust_checks(aim, around):
            yield Finding(level=_LEVELS[trust.state], about="trust", text=trust.why, next=trust.next)
        try:
            yield from _probe(aim, world)
        except StateError as error:  # a probe is a file in the state directory
            yield wrong("probe", f"cannot probe: {error}", f"ls -ld {world.state}")


def _probe(aim: AgentFile, world: World) -> Iterator[Finding]:
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
        text = f"{len(good)} of {len(results)} events are answered (slowest {slowest:.0f} ms)"
        yield fine("probe", f"{text}{_running_hooks(good)}")
    if aim.agent.form == "plugin" and good and (error := probe_plugin(aim.agent, aim.path, world)):
        yield wrong("probe", f"the plugin itself: {error}", again)


def _running_hooks(good: Sequence[Probed]) -> str:
    """The hooks that would have run, so that no hooks at all do not look like a working guard."""
    running = dict.fromkeys(name for one in good for name, why in one.hooks.items() if not why)
    return f"; hooks that would run: {', '.join(running)}" if running else "; no hook would run"
