"""Check one agent: is it installed, is hookline registered and trusted, does an event get through?"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agents import Agent
from hookline.core.errors import StateError
from hookline.deploy.agent_trust import TrustContext, trust_checks
from hookline.deploy.apply import read
from hookline.deploy.installed import RegisteredHook, find_registrations, parse_registered
from hookline.deploy.requirements import AgentFile
from hookline.deploy.status import RegistrationStatus, posts
from hookline.doctor.finding import Finding, Level, fine, note, wrong
from hookline.doctor.probe_events import Probed, World, probe_all, probe_plugin

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
    #: By path, the file's text as hookline wrote it, or would write it now. Nothing else that calls hookline is run.
    written: Mapping[str, str] = field(default_factory=empty)

    def is_ours(self, aim: AgentFile) -> bool:
        """Whether everything in the file that calls hookline is as hookline writes it."""
        written = self.written.get(aim.path)
        if aim.agent.form == "plugin":
            return read(aim.path)[0] == written
        own = parse_registered(aim.path, written)
        return all(entry in own for entry in find_registrations(aim.path))

    @property
    def deployed(self) -> list[tuple[AgentFile, RegistrationStatus]]:
        return [(aim, one) for aim, one in self.scopes if one.events]


def agent_findings(install: AgentInstall, project: str, home: str, world: World) -> list[Finding]:
    return [*_version(install), *_registration(install), *_trust_and_probe(install, project, home, world)]


def _version(install: AgentInstall) -> Iterator[Finding]:
    if install.target.label:
        known, next_step = (
            f"{install.target.title}: {install.target.label}",
            f"hookline doctor --record {install.target.name}",
        )
        yield note("proof", known, next_step)
    if not install.program:
        yield note("version", f"{install.target.program} is not found in PATH")
    elif install.version:
        yield fine("version", f"{install.version} ({install.program})")
        proven = install.target.proven
        if proven and _numbers(install.version) > _numbers(proven):
            text = f"{install.version} is newer than {proven}, the version that hookline was tried with"
            yield note("proof", text, f"hookline doctor --agent {install.target.name} --run")
    else:
        yield wrong("version", f"{install.program} --version prints no version", f"{install.program} --version")


def _numbers(version: str) -> tuple[int, ...]:
    """To compare by; what follows the numbers, as in 1.2.0-beta.3, does not count."""
    return tuple(int(part) for part in re.match(r"[\d.]*", version)[0].split(".") if part)  # type: ignore[index]  # it always matches


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
            yield from _probe(aim, world, install.written.get(aim.path, ""))
        except StateError as error:  # a probe is a file in the state directory
            yield wrong("probe", f"cannot probe: {error}", f"ls -ld {world.state}")


def _probe(aim: AgentFile, world: World, written: str) -> Iterator[Finding]:
    """``written`` is what hookline writes: a command that only contains a call of hookline may do anything else too."""
    again = f"hookline deploy --agent {aim.agent.name} --scope {aim.scope}"
    there, own = find_registrations(aim.path), parse_registered(aim.path, written)
    for entry in there:
        if entry not in own and not posts(entry):
            yield wrong("probe", f"{entry.event}: {_why_not_probed(entry, own)}", again)
    if posted := [entry.event for entry in there if posts(entry)]:
        yield wrong("probe", f"{', '.join(posted)}: posted over HTTP, where hookline no longer listens", again)
    results = probe_all(aim.agent, [entry for entry in there if entry in own], world)
    for one in results:
        if one.error:
            yield wrong("probe", f"{one.event}: {one.error}", again)
    good = [one for one in results if not one.error]
    if good:
        slowest = max(one.ms for one in good)
        text = f"{len(good)} of {len(results)} events are answered (slowest {slowest:.0f} ms)"
        yield fine("probe", f"{text}{_running_hooks(good)}")
    if aim.agent.form == "plugin" and good and (error := _probe_plugin(aim, written, world)):
        yield wrong("probe", f"the plugin itself: {error}", again)


def _probe_plugin(aim: AgentFile, written: str, world: World) -> str:
    """A person's own file is loaded as it is, to see whether it still works; a repository's could be anything."""
    text, _refused = read(aim.path)
    if text is None or (aim.scope != "user" and text != written):
        return "not loaded, because it is not what hookline deploy writes, and could be anything"
    return probe_plugin(aim.agent, text, world)


def _why_not_probed(entry: RegisteredHook, own: Sequence[RegisteredHook]) -> str:
    if not os.path.exists(entry.program) and any(
        entry.command == one.command.replace(one.program, entry.program) for one in own if one.event == entry.event
    ):
        return f"hookline was not reached (exit code 127: {entry.program} does not exist)"
    return "not run, because it is not what hookline deploy writes, and could be anything"


def _running_hooks(good: Sequence[Probed]) -> str:
    """The hooks that would have run, so that no hooks at all do not look like a working guard."""
    running = dict.fromkeys(name for one in good for name, why in one.hooks.items() if not why)
    return f"; hooks that would run: {', '.join(running)}" if running else "; no hook would run"
