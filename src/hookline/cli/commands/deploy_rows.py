"""What ``hookline deploy`` does with each agent's file: a row of its JSON for each, and as it is printed."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from typing import Any

from hookline.cli.confirm import keep_own_files
from hookline.cli.output import print_json, safe
from hookline.core.agents import Agent
from hookline.core.errors import ConfigError, StateError, UsageError
from hookline.core.json_edit import JsonError
from hookline.core.paths import find_paths, home_directory, project_root
from hookline.deploy import apply
from hookline.deploy.approvers import APPROVERS
from hookline.deploy.installed import find_other_registrations
from hookline.deploy.plan import FilePlan, foreign_entries, own_entries
from hookline.deploy.requirements import AgentFile, Requirements, canonical_events, select_files
from hookline.deploy.status import agent_versions
from hookline.deploy.transport import DESCRIPTIONS, remove_http_token, runs_from_cache
from hookline.state.protection import require_outside_agent

#: For somebody who has no hook yet.
_FIRST = "write one first: hookline hooks add NAME --on PreToolUse --run PROGRAM"


def find_requirements(args: Namespace) -> tuple[Requirements, apply.Ledger]:
    here, home = os.getcwd(), home_directory(os.environ)
    ledger = apply.Ledger(find_paths(os.environ, home).state)
    known = ledger.all()
    if trouble := ledger.trouble():
        if not (args.status or args.dry_run):
            raise StateError(trouble)
        print(f"hookline: {trouble}", file=sys.stderr)
    if args.approve and not args.dry_run:
        require_outside_agent(find_paths(os.environ, home).state, "approve its own registration")
    only = canonical_events(args.events)
    if not (args.status or args.dry_run):
        keep_own_files(home)
    requirements = Requirements(
        here=here, home=home, known=known, only=only, anew=not args.status, door=args.door or "",
        build=not (args.status or args.dry_run), forecast=args.dry_run,
    )  # fmt: skip
    for line in requirements.problems:
        print(f"hookline: {line}", file=sys.stderr)
    return requirements, ledger


def deploy_rows(args: Namespace) -> list[dict[str, Any]]:
    """Register hookline, unless it is a dry run; a row of the JSON for each agent's file."""
    requirements, ledger = find_requirements(args)
    chosen = select_files(args.agent, args.scope or "user", requirements.here, requirements.home)
    versions = {} if args.dry_run else agent_versions([aim.agent for aim in chosen], os.environ, requirements.home)
    if why := runs_from_cache():
        print(f"hookline: {why}", file=sys.stderr)
    rows = [_row(aim, requirements, ledger, args, versions.get(aim.agent.name, "")) for aim in chosen]
    if not args.dry_run:
        keep_own_files(requirements.home)  # an agent's file may be a source of hooks, too
        remove_http_token(os.environ)
    return rows


def _row(
    aim: AgentFile, requirements: Requirements, ledger: apply.Ledger, args: Namespace, version: str
) -> dict[str, Any]:
    """Plan and change one file; what cannot be done is reported, and does not stop the others."""
    target = aim.agent
    note = f"{target.title}: {target.label}. {target.note}".rstrip() if target.label else target.note
    approved: list[str] = []
    for line in requirements.warnings(aim):
        print(f"hookline: {safe(line)}", file=sys.stderr)
    one = requirements.plan(aim)
    refused, backup = (
        one.refused
        or _registered_elsewhere(aim)
        or _link_out_of_project(aim, requirements.here, requirements.home)
        or _loosened_inside_agent(one, find_paths(os.environ, requirements.home).state),
        "",
    )
    events = requirements.events(aim)
    if not refused and not args.dry_run:
        try:
            backup = _write(aim, one, requirements, ledger, version) if events else apply.undeploy(ledger, one)
        except ConfigError as error:
            refused = str(error)
    findings = [refused] if refused else []
    if target.needs_approval and events and not refused and not args.dry_run:
        try:
            note, approved = _approve(target, ledger, requirements, asked=args.approve)
        except (ConfigError, UsageError) as error:
            note, findings = "", [str(error)]
    if args.dry_run and not args.json and not refused:
        sys.stdout.write(one.diff())
    return {
        "agent": target.name, "scope": aim.scope, "path": aim.path, "changed": one.changes and not refused,
        "state": "refused" if refused else "planned" if args.dry_run else "not approved" if findings else "deployed",
        "backup": backup, "note": note, "approved": approved, "door": requirements.way(aim), "events": list(events),
        "why": {event: list(why) for event, why in events.items()}, "findings": findings,
        "kept": foreign_entries(one.after, one.path) if target.form != "plugin" else [],
    }  # fmt: skip


def _approve(agent: Agent, ledger: apply.Ledger, requirements: Requirements, *, asked: bool) -> tuple[str, list[str]]:
    """The note that is left, and what is approved: what was asked for, or what takes the place of something approved."""
    approver = APPROVERS[agent.name]
    if not asked and not approver.is_given(requirements.home):
        return agent.note, []
    try:
        require_outside_agent(find_paths(os.environ, requirements.home).state, "approve its own registration")
        return "", approver.approve(ledger, requirements.here, requirements.home)
    except (ConfigError, UsageError) as error:
        if asked:
            raise
        return f"It is not approved again: {error}", []


def _loosened_inside_agent(one: FilePlan, state: str) -> str:
    """Why an agent may not write this: entries that it has would be gone, or name other directories."""
    if not _entries(one.before, one.path) - _entries(one.after, one.path):
        return ""
    try:
        require_outside_agent(state, "change its own registration")
    except UsageError as error:
        return str(error)
    return ""


def _entries(text: str | None, path: str) -> set[str]:
    try:
        return {f"{entry.event} {entry.value}" for entry in own_entries(text, path)} if text else set()
    except JsonError:  # a plugin is ours alone
        return {text or ""}


def _write(aim: AgentFile, one: FilePlan, requirements: Requirements, ledger: apply.Ledger, version: str) -> str:
    return apply.deploy(
        ledger, one, agent=aim.agent.name, scope=aim.scope, version=version, roots=requirements.roots(aim),
        only=requirements.only(aim), door=requirements.door(aim),
    )  # fmt: skip


def _registered_elsewhere(aim: AgentFile) -> str:
    """Why not here: another of the agent's files calls hookline, and every event would arrive twice."""
    others = dict.fromkeys(entry.path for entry in find_other_registrations(aim.agent, aim.path))
    if not others:
        return ""
    return f"{aim.agent.name} already calls hookline from {', '.join(others)}; remove it there, then deploy again"


def _link_out_of_project(aim: AgentFile, here: str, home: str) -> str:
    """A repository's symbolic link must not make us write elsewhere."""
    root = os.path.realpath(project_root(here, home))
    real = os.path.realpath(aim.path)
    if aim.scope == "user" or real.startswith(root + os.sep):
        return ""
    return f"{aim.path} is a link out of its project to {real}; edit that file yourself"


def print_rows(rows: list[dict[str, Any]], args: Namespace) -> None:
    if args.json:
        print_json({"agents": rows, "doubled": []})
        return
    for row in rows:
        said = "nothing to change" if not row["changed"] else "would change" if args.dry_run else "registered"
        for finding in row["findings"]:
            print(f"hookline: {finding}", file=sys.stderr)
        if row["findings"] and row["state"] != "not approved":
            continue
        out = sys.stderr if args.dry_run else sys.stdout
        if not row["events"]:
            print(f"{row['agent']}: no hook listens to its events, so nothing is registered; {_FIRST}", file=out)
            continue
        print(f"{row['agent']}: {said}: {row['path']}", file=out)
        if row["changed"]:
            print(f"  {DESCRIPTIONS[row['door']]}", file=out)
        for other in row["kept"]:
            print(f"  not managed by hookline, kept as it is: {safe(other, 100)}", file=out)
        for event, why in row["why"].items() if args.dry_run else ():
            print(f"  {event}: {'; '.join(why)}", file=out)
        for key in row["approved"]:
            print(f"  approved: {key}")
        if row["note"] and row["changed"]:
            print(f"  {row['note']}", file=out)
