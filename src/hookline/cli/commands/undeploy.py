"""Remove hookline's entries from the agents' files.

A file that has not changed since gets its old bytes back; otherwise only hookline's entries are removed. A file that
hookline created is deleted. Without --agent and --scope, everything that hookline deploy has registered for you and this
project is removed.
"""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from typing import Any

from hookline.cli.commands.deploy import add_selection
from hookline.cli.commands.deploy_memory import memory_rows
from hookline.cli.commands.deploy_status import aims_of_all_scopes
from hookline.cli.options import add_json
from hookline.cli.output import print_json
from hookline.core.agents import all_agents
from hookline.core.errors import ConfigError
from hookline.core.paths import find_paths, home_directory
from hookline.deploy import apply
from hookline.deploy.approvers import withdraw_approvals
from hookline.deploy.requirements import AgentFile
from hookline.deploy.transport import remove_http_token, remove_programs
from hookline.state import own_guards
from hookline.state.protection import require_outside_agent


def configure(parser: ArgumentParser) -> None:
    add_selection(parser, agents="all", scope="all of them")
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff; write nothing")
    add_json(parser)


def run(args: Namespace) -> int:
    here, home = os.getcwd(), home_directory(os.environ)
    state = find_paths(os.environ, home).state
    if not args.dry_run:
        require_outside_agent(state, "remove its own registration")
    ledger = apply.Ledger(state)
    known = ledger.all()
    args.agent = args.agent or list(all_agents())
    aims = aims_of_all_scopes(args.agent, args.scope, here, home)
    # A profile that is no longer configured.
    orphans = {path: one for path, one in known.items() if one.scope == "user" == (args.scope or "user")}
    for path in orphans.keys() - {aim.path for aim in aims}:
        if (agent := orphans[path].agent) in args.agent and agent in all_agents():
            aims.append(AgentFile(agent=all_agents()[agent], scope="user", path=path))
    rows = [row for aim in aims if (row := _row(aim, ledger, known, args))]
    if (args.scope or "user") == "user":
        served = [all_agents()[name] for name in args.agent if name in all_agents() and all_agents()[name].servers[0]]
        gone = memory_rows(served, home, dry_run=args.dry_run, remove=True)
        for row in gone:
            if row["changed"] or row["refused"]:
                rows.append(
                    {"agent": row["agent"], "scope": "user", "path": row["path"], "refused": row["refused"] or None}
                )
                said = "would be removed" if args.dry_run else "removed"
                if not args.json:
                    print(f"{row['agent']}: memory: {row['refused'] or said}: {row['path']}")
    if not args.dry_run:
        withdraw_approvals(ledger, args.agent, here, home)
    if not args.dry_run and known and not ledger.all():
        own_guards.forget(state)
        remove_programs(os.environ)
        remove_http_token(os.environ)
    if args.json:
        print_json({"agents": rows})
    elif not rows:
        named = ", ".join(args.agent) if len(args.agent) < len(all_agents()) else "any agent"
        scope = f" in the scope {args.scope}" if args.scope else ""
        print(f"hookline is not registered with {named}{scope}. What is: hookline deploy --status")
    return int(any(row["refused"] for row in rows))


def _row(
    aim: AgentFile, ledger: apply.Ledger, known: Mapping[str, apply.DeployedFile], args: Namespace
) -> dict[str, Any] | None:
    """Clean one file; what fails is reported and does not stop the others. None if it has no entries of ours."""
    one = apply.plan_removal(aim.path, aim.agent, known.get(aim.path))
    refused = one.refused
    if not refused and args.dry_run:
        sys.stdout.write("" if args.json else one.diff())
    elif not refused and (one.changes or aim.path in known):
        if one.changes:
            require_outside_agent("", "remove its own registration", registered=True)
        try:
            apply.undeploy(ledger, one)
        except ConfigError as error:
            refused = str(error)
        else:
            if not args.json:
                print(f"{aim.agent.name}: removed: {aim.path}")
    if refused:
        print(f"hookline: {refused}", file=sys.stderr)
    if not one.changes and not refused:
        return None
    return {"agent": aim.agent.name, "scope": aim.scope, "path": aim.path, "refused": refused or None}
