"""Find out whether your hooks really fire: check every agent and hookline itself, and try it.

  hookline doctor                      every installed agent
  hookline doctor --agent codex --run  one agent, and really run it, offline
  hookline doctor --record cursor      write its latest recorded session into a file that you can send

For each agent: its version, whether hookline is registered, whether the agent would run it (approval, trust in this
folder), and a probe: each command that hookline registered is run as the agent runs it, with the agent's own payload. An
entry that hookline deploy would not write is reported and not run. Probes run none of your hooks and are not recorded.
--run starts the real agent without network, in a temporary home, with a scripted model and one hook that denies.

An alarm is a finding that keeps hooks from working; the others need nothing. Exit code 0: no alarm. 1: an alarm; each
names the next command to type.

--json prints {"ok": bool, "hookline": [finding], "agents": [{"agent", "program", "version", "scopes": [{"scope",
"path", "state"}], "findings": [finding]}]}; a finding is {"level": "fine" | "note" | "wrong", "about", "text", "next"}.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from hookline.cli.commands.deploy_status import registration_statuses
from hookline.cli.loading import look
from hookline.cli.options import add_json
from hookline.cli.output import paint, plural, print_json, safe
from hookline.cli.record import open_record
from hookline.core.agents import Agent, all_agents, select_agents
from hookline.core.errors import StateError
from hookline.core.paths import find_paths, home_directory, project_root
from hookline.deploy.apply import DeployedFile, Ledger, digest
from hookline.deploy.requirements import SCOPES, AgentFile, Requirements, all_files, detect_agents
from hookline.deploy.status import agent_program, agent_versions
from hookline.doctor.agents import AgentInstall, agent_findings
from hookline.doctor.finding import Finding
from hookline.doctor.live_run import run_agent
from hookline.doctor.local import local_findings
from hookline.doctor.probe_events import World
from hookline.doctor.recording import recording

_MARKS = {"fine": ("✓", "green"), "note": ("·", "grey"), "wrong": ("✗", "red")}


def configure(parser: ArgumentParser) -> None:
    names = ", ".join(all_agents())
    parser.add_argument(
        "--agent", metavar="A", action="append", default=[], help=f"{names} (repeatable; default: all found)"
    )
    parser.add_argument(
        "--record", metavar="A", default="", help="write the latest recorded session of this agent into hookline-A.json"
    )
    parser.add_argument("--run", action="store_true", help="really run the agent, offline, with a hook that denies")
    add_json(parser)


def run(args: Namespace) -> int:
    here = os.getcwd()
    home = home_directory(os.environ)
    paths = find_paths({name: value for name, value in os.environ.items() if name.startswith("XDG_")}, home)
    if args.record:
        return _record(select_agents([args.record])[0], paths.state, home)
    chosen = select_agents(args.agent) or detect_agents(home)
    mine = local_findings(look(cwd=here, inspect=True), paths, here, os.environ)
    if not args.json:
        _print("hookline", mine)
    world = World(cwd=here, environ=dict(os.environ), state=paths.state)
    rows: list[dict[str, Any]] = []
    for install in _installs(chosen, here, home):
        found = agent_findings(install, project_root(here, home), home, world)
        if args.run and install.program:
            mine_only = [aim for aim, _status in install.deployed if install.is_ours(aim)]
            found += [run_agent(aim, install.program, os.environ) for aim in mine_only]
        rows.append(_shape(install, found))
        if not args.json:
            _print(install.target.name, found)
    wrong = any(one.level == "wrong" for one in mine) or any(
        one["level"] == "wrong" for row in rows for one in row["findings"]
    )
    if args.json:
        print_json({"ok": not wrong, "hookline": [one.to_json() for one in mine], "agents": rows})
    else:
        if not rows:
            print(f"No agent was found. To check one anyway, add --agent: {', '.join(all_agents())}")
        alarms = sum(one.level == "wrong" for one in mine)
        alarms += sum(one["level"] == "wrong" for row in rows for one in row["findings"])
        print(f"{plural(alarms, 'alarm')}: a hook does not work as it should." if alarms else "No alarms.")
    return int(wrong)


def _record(agent: Agent, state: str, home: str) -> int:
    with open_record(state) as store:
        text = recording(store, agent, agent_versions([agent], os.environ, home).get(agent.name, ""), home)
    file = f"hookline-{agent.name}.json"
    try:
        with open(file, "w", encoding="utf-8", errors="backslashreplace") as made:
            made.write(text)
    except OSError as error:
        raise StateError(f"{file} cannot be written: {error.strerror}") from error
    print(f"Wrote {file}. Secrets are redacted; read it before you send it.")
    return 0


def _installs(targets: Sequence[Agent], here: str, home: str) -> list[AgentInstall]:
    """The agents with their programs, versions and registrations."""
    if not targets:
        return []
    requirements = Requirements(here=here, home=home, known=_known(home))
    versions = agent_versions(targets, os.environ, home)
    # That a version changed since is for those who have not looked: here everything is tried.
    found, twice = registration_statuses([target.name for target in targets], None, requirements, {})
    by_path = {one.path: one for one in found}
    return [
        AgentInstall(
            target=target,
            program=agent_program(target, os.environ),
            version=versions.get(target.name, ""),
            scopes=[(aim, by_path[aim.path]) for aim in all_files([target], SCOPES, here, home) if aim.path in by_path],
            doubled=[line for line in twice if line.startswith(target.name)],
            written={aim.path: _written(aim, requirements) for aim in all_files([target], SCOPES, here, home)},
        )
        for target in targets
    ]


def _written(aim: AgentFile, requirements: Requirements) -> str:
    """The file as the last deployment left it, if it did; otherwise as deploying would write it now."""
    plan, kept = requirements.plan(aim), requirements.known.get(aim.path)
    untouched = kept is not None and plan.before is not None and digest(plan.before) == kept.digest
    return (plan.before if untouched else plan.after) or ""


def _known(home: str) -> dict[str, DeployedFile]:
    try:
        return Ledger(find_paths(os.environ, home).state).all()
    except StateError:  # reported among hookline's own findings
        return {}


def _shape(install: AgentInstall, found: Sequence[Finding]) -> dict[str, Any]:
    scopes = [{"scope": aim.scope, "path": aim.path, "state": one.state} for aim, one in install.scopes]
    return {
        "agent": install.target.name, "program": install.program or None, "version": install.version or None,
        "scopes": scopes, "findings": [one.to_json() for one in found],
    }  # fmt: skip


def _print(title: str, found: Sequence[Finding]) -> None:
    print(paint(title, "bold"))
    for one in found:
        mark, colour = _MARKS[one.level]
        word = paint("alarm: ", colour) if one.level == "wrong" else ""
        print(f"  {paint(mark, colour)} {one.about:<9} {word}{safe(one.text)}", flush=True)
        if one.next:
            print(f"    {'':<9} {paint('next:', 'green')} {safe(one.next)}", flush=True)
