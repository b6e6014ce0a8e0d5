"""Register hookline with your agents: one entry per event in each agent's own file.

  hookline deploy                                every agent that is installed, for you
  hookline deploy --agent codex --scope project  one agent, for this project
  hookline deploy --dry-run                      the very changes, and nothing is written
  hookline deploy --status                       what is registered, and what is wrong with it

Entries of others, comments and formatting stay byte for byte; a copy of each file is kept; doing it twice changes
nothing; hookline undeploy gives the bytes back. Where a hook has on_failure = "deny", the entry itself refuses when
hookline is broken or gone. Codex runs no hook that was not approved: --approve approves these entries, and no others.

--json prints {"agents": [{"agent", "scope", "path", "state", "changed", "backup", "note", "events", "findings"}],
"doubled": […]}.
"""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Any

from hookline.assembly import assemble
from hookline.cli.output import paint, print_json, table
from hookline.cli.parser import add_json
from hookline.config.discover import project_root
from hookline.dataclass import dataclass
from hookline.deploy import apply, codex_approval
from hookline.deploy.needs import canonical_events, installed, needs_of, own_program
from hookline.deploy.plugin import source
from hookline.deploy.status import doubled, standing
from hookline.deploy.targets import SHORT, TARGETS
from hookline.errors import ConfigError, UsageError
from hookline.paths import paths_of

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace
    from collections.abc import Iterator, Sequence

    from hookline.deploy.plan import Plan
    from hookline.deploy.targets import Need, Scope, Target

SCOPES: tuple[Scope, ...] = ("user", "project", "local")


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """One file of one agent."""

    target: Target
    scope: Scope
    path: str


def configure(parser: ArgumentParser) -> None:
    add_aims(parser)
    parser.add_argument(
        "--events",
        metavar="E",
        nargs="+",
        default=[],
        help="only these (default: the usual ones and those of your hooks)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff; write nothing")
    parser.add_argument(
        "--approve", action="store_true", help="also approve the new entries where the agent asks for that (Codex)"
    )
    parser.add_argument(
        "--status", action="store_true", help="show what is registered; exit code 1 if something is wrong"
    )
    add_json(parser)


def add_aims(parser: ArgumentParser) -> None:
    names = ", ".join(TARGETS)
    parser.add_argument(
        "--agent", metavar="A", action="append", default=[], help=f"{names} (repeatable; default: all found)"
    )
    parser.add_argument("--scope", choices=SCOPES, default=None, help="whose file (default: user)")


def run(args: Namespace) -> int:
    here, home = os.getcwd(), os.path.expanduser("~")
    assembly = assemble(cwd=here, record=False)
    assembly.engine.close()
    needs = needs_of(assembly.loaded.specs, canonical_events(args.events))
    program = own_program()
    if args.status:
        return _status(args, needs, program, here, home)
    ledger = apply.Ledger(paths_of(os.environ, home).state)
    rows: list[dict[str, Any]] = []
    failed = False
    for aim in aims(args.agent, args.scope or "user", here, home):
        one = _planned(aim, needs, program)
        refused = one.refused or _leads_out(aim, here, home)
        failed = failed or bool(refused)
        backup = "" if refused or args.dry_run else apply.deploy(ledger, one, agent=aim.target.agent, scope=aim.scope)
        if args.approve and not refused and not args.dry_run and aim.target.agent == "codex":
            _approve(ledger, here, home)
        rows.append(
            {
                "agent": aim.target.agent, "scope": aim.scope, "path": aim.path, "changed": one.changes and not refused,
                "state": "refused" if refused else "planned" if args.dry_run else "deployed", "backup": backup,
                "note": "" if args.approve and aim.target.agent == "codex" else aim.target.note, "events": [], "findings": [refused] if refused else [],
            }
        )  # fmt: skip
        if args.dry_run and not args.json:
            sys.stdout.write(one.diff())
    _tell(rows, args)
    return 1 if failed else 0


def _approve(ledger: apply.Ledger, here: str, home: str) -> None:
    """Said aloud where it cannot be done: hooks that Codex skips without a word are the worst of all."""
    program = shutil.which("codex")
    states = codex_approval.own_states(program, here, os.environ) if program else []
    if not states:
        raise ConfigError("Codex could not be asked about its hooks; open codex, type /hooks and approve them there")
    path = codex_approval.config_file(home, os.environ)
    text, refused = apply.read(path)
    if refused:
        raise ConfigError(refused)
    apply.deploy(ledger, codex_approval.approved(path, text, states), agent="codex", scope="user")


def aims(agents: Sequence[str], scope: Scope, here: str, home: str) -> list[Aim]:
    """The files to look at. Raises UsageError where there is none."""
    named = [SHORT.get(name, name) for name in agents]
    unknown = [name for name in named if name not in TARGETS]
    if unknown:
        raise UsageError(f"unknown agent {unknown[0]!r}; known are {', '.join(TARGETS)}")
    chosen = [TARGETS[name] for name in named] or [
        target for target in TARGETS.values() if installed(target, home, os.environ)
    ]
    if not chosen:
        raise UsageError(f"no agent was found; name one with --agent: {', '.join(TARGETS)}")
    found = list(_aims(chosen, scope, here, home))
    if not found:
        raise UsageError(f"{', '.join(named)} has no {scope} scope; use user or project")
    return found


def _aims(chosen: Sequence[Target], scope: Scope, here: str, home: str) -> Iterator[Aim]:
    for target in chosen:
        path = target.path(scope, project_root(here, home), home, os.environ)
        if path is not None:
            yield Aim(target=target, scope=scope, path=path)


def _planned(aim: Aim, needs: Sequence[Need], program: str) -> Plan:
    target = aim.target
    if target.form == "plugin":
        return apply.planned(aim.path, target.form, source(target, program, needs, aim.scope))
    wanted = target.wanted(program, needs, aim.scope)
    return apply.planned(aim.path, target.form, wanted)


def _leads_out(aim: Aim, here: str, home: str) -> str:
    """A repository's link must not make us write somewhere else."""
    root = os.path.realpath(project_root(here, home))
    real = os.path.realpath(aim.path)
    if aim.scope == "user" or real.startswith(root + os.sep):
        return ""
    return f"{aim.path} leads out of its project to {real}; edit that file yourself"


def _tell(rows: list[dict[str, Any]], args: Namespace) -> None:
    if args.json:
        print_json({"agents": rows, "doubled": []})
        return
    for row in rows:
        said = "nothing to change" if not row["changed"] else "would change" if args.dry_run else "registered"
        for finding in row["findings"]:
            print(f"hookline: {finding}", file=sys.stderr)
        if row["findings"]:
            continue
        print(f"{row['agent']}: {said}: {row['path']}", file=sys.stderr if args.dry_run else sys.stdout)
        if row["note"] and row["changed"] and not args.dry_run:
            print(f"  {row['note']}")


def _status(args: Namespace, needs: Sequence[Need], program: str, here: str, home: str) -> int:
    chosen = aims_of_all_scopes(args, here, home)
    found = [standing(aim.target.agent, aim.scope, _planned(aim, needs, program)) for aim in chosen]
    twice = doubled(found)
    wrong = bool(twice) or any(one.findings for one in found)
    if args.json:
        rows = [
            {
                "agent": one.agent, "scope": one.scope, "path": one.path, "state": one.state, "changed": False, "backup": "",
                "note": "", "events": list(one.events), "findings": list(one.findings),
            }
            for one in found
        ]  # fmt: skip
        print_json({"agents": rows, "doubled": list(twice)})
        return int(wrong)
    print(table(("agent", "scope", "state", "file"), [(one.agent, one.scope, one.state, one.path) for one in found]))
    for line in (*(finding for one in found for finding in one.findings), *twice):
        print(paint(f"! {line}", "yellow"))
    return int(wrong)


def aims_of_all_scopes(args: Namespace, here: str, home: str) -> list[Aim]:
    scopes = (args.scope,) if args.scope else SCOPES
    named = args.agent or [target.agent for target in TARGETS.values() if installed(target, home, os.environ)]
    if not named:
        raise UsageError(f"no agent was found; name one with --agent: {', '.join(TARGETS)}")
    aims(named, "user", here, home)
    chosen = [TARGETS[SHORT.get(name, name)] for name in named]
    found = [aim for scope in scopes for aim in _aims(chosen, scope, here, home)]
    # In the home directory the project's file is the user's.
    return list({aim.path: aim for aim in reversed(found)}.values())[::-1]
