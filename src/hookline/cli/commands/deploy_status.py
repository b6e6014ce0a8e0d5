"""``hookline deploy --status``: what is registered, and what is wrong with it."""

from __future__ import annotations

import os
from argparse import Namespace
from collections.abc import Mapping, Sequence

from hookline.cli.output import paint, print_json, table
from hookline.core._dataclass import replace
from hookline.core.agents import Scope, all_agents, select_agents
from hookline.deploy.agent_trust import TrustContext, trust_checks
from hookline.deploy.requirements import SCOPES, AgentFile, Requirements, all_files, detect_agents
from hookline.deploy.status import (
    RegistrationStatus,
    agent_program,
    agent_versions,
    duplicate_registrations,
    registration_status,
)


def print_status(args: Namespace, requirements: Requirements) -> int:
    known = {kept.agent: all_agents()[kept.agent] for kept in requirements.known.values() if kept.agent in all_agents()}
    versions = agent_versions(list(known.values()), os.environ, requirements.home)
    found, twice = registration_statuses(args.agent, args.scope, requirements, versions)
    found = [_with_approval(one, requirements) for one in found]
    wrong = bool(twice) or any(one.findings for one in found)
    if args.json:
        rows = [
            {
                "agent": one.agent, "scope": one.scope, "path": one.path, "state": one.state, "changed": False, "backup": "",
                "note": "", "approved": [], "door": "", "events": list(one.events), "why": {}, "findings": list(one.findings),
                "kept": [],
            }
            for one in found
        ]  # fmt: skip
        print_json({"agents": rows, "doubled": list(twice)})
        return int(wrong)
    if not found:
        print(
            f"No agent was found, so nothing is registered. To check one anyway, add --agent: {', '.join(all_agents())}"
        )
        return 0
    print(table(("agent", "scope", "state", "file"), [(one.agent, one.scope, one.state, one.path) for one in found]))
    for line in (*(finding for one in found for finding in one.findings), *twice):
        print(paint(f"! {line}", "yellow"))
    return int(wrong)


def _with_approval(one: RegistrationStatus, requirements: Requirements) -> RegistrationStatus:
    """What is registered and not approved does not run."""
    agent = all_agents()[one.agent]
    if not one.events or not agent.needs_approval:
        return one
    around = TrustContext(
        project=requirements.here, home=requirements.home, environ=os.environ, program=agent_program(agent, os.environ)
    )
    checks = trust_checks(AgentFile(agent=agent, scope=one.scope, path=one.path), around)
    bad = tuple(f"{one.agent}: {check.why}: {check.next}" for check in checks if check.state == "untrusted")
    if not bad:
        return one
    state = "not approved" if one.state == "deployed" else one.state
    return replace(one, state=state, findings=(*one.findings, *bad))


def registration_statuses(
    agents: Sequence[str], scope: Scope | None, requirements: Requirements, versions: Mapping[str, str]
) -> tuple[list[RegistrationStatus], list[str]]:
    """The registrations of the chosen agents, and duplicates, which other agents' files can cause too."""
    chosen = {aim.path for aim in aims_of_all_scopes(agents, scope, requirements.here, requirements.home)}
    found = [
        registration_status(
            aim.agent,
            aim.scope,
            requirements.plan(aim),
            requirements.known.get(aim.path),
            versions.get(aim.agent.name, ""),
        )
        for aim in all_files(all_agents().values(), SCOPES, requirements.here, requirements.home)
    ]
    mine = [one for one in found if one.path in chosen]
    return mine, [line for line in duplicate_registrations(found) if any(one.agent in line for one in mine)]


def aims_of_all_scopes(agents: Sequence[str], scope: Scope | None, here: str, home: str) -> list[AgentFile]:
    scopes = (scope,) if scope else SCOPES
    return all_files(select_agents(agents) or detect_agents(home), scopes, here, home)
