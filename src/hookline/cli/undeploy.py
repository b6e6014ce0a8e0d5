"""Take hookline's entries out of the agents' files again.

A file that nobody has written since gets its old bytes back; otherwise only our entries go. A file that was made for
them goes with them. Without --agent and --scope, everything that hookline deploy has registered for you and this
project is taken out.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.cli.deploy import add_aims, aims_of_all_scopes
from hookline.cli.output import print_json
from hookline.cli.parser import add_json
from hookline.deploy import apply, codex_approval
from hookline.deploy.plan import Plan
from hookline.deploy.targets import TARGETS
from hookline.paths import paths_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace


def configure(parser: ArgumentParser) -> None:
    add_aims(parser)
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff; write nothing")
    add_json(parser)


def run(args: Namespace) -> int:
    here, home = os.getcwd(), os.path.expanduser("~")
    ledger = apply.Ledger(paths_of(os.environ, home).state)
    known = ledger.all()
    args.agent = args.agent or list(TARGETS)
    rows = []
    for aim in aims_of_all_scopes(args.agent, args.scope, here, home):
        one = apply.unplanned(aim.path, aim.target.form, known.get(aim.path))
        if one.refused:
            print(f"hookline: {one.refused}", file=sys.stderr)
        elif args.dry_run:
            sys.stdout.write("" if args.json else one.diff())
        elif one.changes or aim.path in known:
            apply.undeploy(ledger, one)
            if not args.json:
                print(f"{aim.target.agent}: taken out: {aim.path}")
        if one.changes or one.refused:
            rows.append(
                {"agent": aim.target.agent, "scope": aim.scope, "path": aim.path, "refused": one.refused or None}
            )
    if not args.dry_run and any(aim.target.agent == "codex" for aim in aims_of_all_scopes(args.agent, args.scope, here, home)):
        _withdraw(ledger, home)
    if args.json:
        print_json({"agents": rows})
    elif not rows:
        print("nothing is registered")
    return int(any(row["refused"] for row in rows))


def _withdraw(ledger: apply.Ledger, home: str) -> None:
    """What was approved in Codex's own file goes with the entries."""
    path = codex_approval.config_file(home, os.environ)
    text, refused = apply.read(path)
    kept = ledger.all().get(path)
    if refused or (kept is None and codex_approval.BEGIN not in (text or "")):
        return
    same = kept is not None and text is not None and apply.digest(text) == kept.digest
    one = Plan(path=path, before=text, after=kept.before) if same and kept else codex_approval.unapproved(path, text)
    apply.undeploy(ledger, one)
