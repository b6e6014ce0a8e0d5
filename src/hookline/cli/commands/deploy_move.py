"""``hookline deploy --move``: one agent's own hooks, and the registration, for another agent."""

from __future__ import annotations

import os
import sys
from argparse import Namespace
from collections.abc import Sequence
from typing import TYPE_CHECKING

from hookline.cli.commands.deploy_rows import deploy_rows, print_rows
from hookline.cli.output import print_json, safe
from hookline.core.agents import Agent, Scope
from hookline.core.errors import UsageError
from hookline.core.paths import find_paths, home_directory
from hookline.deploy import apply
from hookline.deploy.requirements import all_files
from hookline.state.protection import require_outside_agent

if TYPE_CHECKING:
    from hookline.cli.move import Move


def deploy_move(args: Namespace) -> int:
    from hookline.cli.move import plan_move  # few deployments are moves

    here, home = os.getcwd(), home_directory(os.environ)
    scope: Scope = args.scope or "user"
    if args.agent:
        raise UsageError("--move names both agents; leave --agent out")
    move = plan_move(args.move, scope, here, home)
    if not args.dry_run:
        require_outside_agent(find_paths(os.environ, home).state, "move its own registration")
        move.write()
    args.agent = [move.target.name]
    rows = deploy_rows(args)
    works = args.dry_run or not move.hooks or all(row["state"] == "deployed" and row["events"] for row in rows)
    gone = _leave(move.source, scope, here, home, dry_run=args.dry_run) if works else []
    told = {
        "from": move.source.name, "to": move.target.name, "file": move.file, "hooks": list(move.hooks),
        "problems": list(move.problems), "unregistered": gone,
    }  # fmt: skip
    lost = bool(move.problems) or any(one["lost"] or not one["carried"] for one in move.hooks)
    if args.json:
        print_json({"agents": rows, "doubled": [], "moved": told})
    else:
        _print_move(move, works=works, gone=gone, args=args)
        if not (args.dry_run and move.added):  # what is not written yet is not seen there
            print_rows(rows, args)
    return int(lost or not works or any(row["findings"] for row in rows))


def _leave(source: Agent, scope: Scope, here: str, home: str, *, dry_run: bool) -> list[str]:
    """Take hookline's entries out of the first agent's files; the files that had some."""
    ledger = apply.Ledger(find_paths(os.environ, home).state)
    known = ledger.all()
    gone: list[str] = []
    for aim in all_files([source], (scope,), here, home):
        one = apply.plan_removal(aim.path, source, known.get(aim.path))
        if one.refused or not (one.changes or aim.path in known):
            continue
        gone.append(aim.path)
        if not dry_run:
            apply.undeploy(ledger, one)
    return gone


def _print_move(move: Move, *, works: bool, gone: Sequence[str], args: Namespace) -> None:
    carried = sum(one["carried"] for one in move.hooks)
    out = sys.stderr if args.dry_run else sys.stdout
    if args.dry_run:
        sys.stdout.write(move.added)
        events = dict.fromkeys(one["event"] for one in move.hooks if one["carried"])
        print(
            f"{move.target.name}: would be registered for {', '.join(events) or 'what hookline.toml needs'}", file=out
        )
    kept = f" {move.source.title}'s own file keeps them." if carried else ""
    print(f"{move.source.name}: {carried} of {len(move.hooks)} hooks carried into {move.file}.{kept}", file=out)
    for problem in move.problems:
        print(f"lost: {safe(problem)}", file=sys.stderr)
    for one in move.hooks:
        for lost in one["lost"]:
            print(f"lost: {safe(one['hook'], 60)} ({one['event']}): {safe(lost)}", file=sys.stderr)
    for path in gone:
        print(f"{move.source.name}: no longer calls hookline: {path}", file=out)
    if not works and not args.dry_run:
        scope = f" --scope {args.scope}" if args.scope else ""
        print(
            f"{move.target.name} is not registered yet, so {move.source.name} was left as it is. Approve the hooks, then move"
            f" again: hookline trust && hookline deploy --move {args.move}{scope}",
            file=sys.stderr,
        )
