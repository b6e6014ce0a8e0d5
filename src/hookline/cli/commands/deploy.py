"""Register hookline with your agents: one entry per event in each agent's own file.

  hookline deploy                                every installed agent, for you
  hookline deploy --agent codex --scope project  one agent, for this project
  hookline deploy --dry-run                      show the changes, write nothing
  hookline deploy --status                       show what is registered, and what is wrong with it
  hookline deploy --memory                       let agents ask memory, and recall what fits the first prompt
  hookline deploy --move gemini-cli=codex        carry one agent's own hooks to another, and the registration with them

Other entries, comments and formatting stay byte for byte; each file is backed up; deploying twice changes nothing;
hookline undeploy restores the bytes. Only events that your hooks need have an entry; --dry-run shows what each is for.
The text of an entry does not depend on hooks, so a changed hook needs no new entry. Before a tool, a permission and a
prompt, the entry itself refuses if hookline is broken or missing. Codex runs no hook that is not approved: --approve
approves these entries only, and what it approved once is approved again when it is deployed again.

Entries for you name your directories, so no variable that a repository sets leads hookline elsewhere. Entries for a
project are committed: they call hookline from PATH, name no directory, and are the same for everybody.

The door is how events reach hookline. OpenCode's plugin asks the daemon over its socket. The others start a command: the
native client if it is built (--door client builds it), else a launcher that starts Python (--door command).

--move copies the hooks of the first agent's own file into hookline.toml, where they keep their input and output format,
registers the other agent, and then removes hookline's entries from the first one's file; its own hooks stay in it. What a
hook could do there and cannot do in the other agent is reported, and the exit code is 1.

--memory registers `hookline memory serve` for you (not for a project) in every agent whose file of MCP servers is known, and
writes a skill where an agent has skills. It also puts the built-in hook `recall` into your hookline.toml, unless it is
there, and registers your hooks as without --memory. hookline undeploy removes all but the line in hookline.toml. --json then
prints {"memory": [{"agent", "path", "changed", "skill", "refused"}], "recall": {"path", "changed"}, "agents": […]}.

--json prints {"agents": [{"agent", "scope", "path", "state", "changed", "backup", "note", "approved", "door",
"events", "why", "findings", "kept"}], "doubled": […]}; "why" has the reasons for each event, "kept" the hooks of others in
the same file, which hookline leaves as they are; with --move also "moved": {"from", "to", "file", "hooks": [{"hook",
"event", "file", "carried", "lost"}], "problems", "unregistered"}. Every [profiles.*] config_dir of lazy-harness has a file of its own.
"""

from __future__ import annotations

import os
import sys
import tomllib
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from hookline.cli.confirm import keep_own_files
from hookline.cli.options import add_json
from hookline.cli.output import paint, print_json, safe, table
from hookline.core._dataclass import replace
from hookline.core.agents import Agent, Scope, all_agents, select_agents
from hookline.core.errors import ConfigError, StateError, UsageError
from hookline.core.json_edit import JsonError
from hookline.core.paths import find_paths, home_directory, project_root
from hookline.deploy import apply
from hookline.deploy.agent_trust import TrustContext, trust_checks
from hookline.deploy.approvers import APPROVERS
from hookline.deploy.installed import find_other_registrations
from hookline.deploy.plan import FilePlan, foreign_entries, own_entries
from hookline.deploy.requirements import (
    SCOPES,
    AgentFile,
    Requirements,
    all_files,
    canonical_events,
    detect_agents,
    select_files,
)
from hookline.deploy.status import (
    RegistrationStatus,
    agent_program,
    agent_versions,
    duplicate_registrations,
    registration_status,
)
from hookline.deploy.transport import CHOICES, DESCRIPTIONS, remove_http_token
from hookline.state.protection import require_outside_agent

if TYPE_CHECKING:
    from hookline.cli.move import Move

#: For somebody who has no hook yet.
_FIRST = "write one first: hookline hooks add NAME --on PreToolUse --run PROGRAM"


def configure(parser: ArgumentParser) -> None:
    add_selection(parser)
    parser.add_argument(
        "--events",
        metavar="E",
        nargs="+",
        default=[],
        help="only these events (default: those that your hooks need)",
    )
    parser.add_argument("--dry-run", action="store_true", help="print the changes as a diff; write nothing")
    parser.add_argument(
        "--door",
        type=_door,
        choices=CHOICES,
        default=None,
        help="how events reach hookline (default: the fastest available that keeps every guarantee)",
    )
    parser.add_argument(
        "--memory", action="store_true", help="also register the MCP server of memory, and recall what fits a prompt"
    )
    parser.add_argument("--move", metavar="FROM=TO", help="carry the hooks of one agent to another")
    asking = ", ".join(agent.title for agent in all_agents().values() if agent.needs_approval)
    parser.add_argument(
        "--approve", action="store_true", help=f"also approve the new entries, if the agent requires it ({asking})"
    )
    parser.add_argument(
        "--status", action="store_true", help="show what is registered; exit code 1 if something is wrong"
    )
    add_json(parser)


def _door(word: str) -> str:
    if word == "http":
        raise ArgumentTypeError("http was removed, because it could not enforce guards; use --door client")
    return word


def add_selection(parser: ArgumentParser, agents: str = "all found", scope: str = "user") -> None:
    """``agents`` and ``scope`` name the defaults, for the help."""
    names = ", ".join(all_agents())
    parser.add_argument(
        "--agent", metavar="A", action="append", default=[], help=f"{names} (repeatable; default: {agents})"
    )
    parser.add_argument("--scope", choices=SCOPES, default=None, help=f"whose file (default: {scope})")


def run(args: Namespace) -> int:
    if args.status:
        return _status(args, _requirements(args)[0])
    if args.move:
        return _move(args)
    if args.memory:
        return _memory(args)
    rows = deploy_rows(args)
    print_rows(rows, args)
    if any(row["state"] == "not approved" for row in rows):
        return os.EX_CONFIG
    return int(any(row["findings"] for row in rows))


def _memory(args: Namespace) -> int:
    from importlib.util import find_spec

    from hookline.core.extras import install_command

    home = home_directory(os.environ)
    if args.scope not in {None, "user"}:
        raise UsageError("--memory is registered for you, not for a project; leave --scope out")
    if find_spec("mcp") is None:
        raise ConfigError(f"the MCP server of memory needs the MCP SDK; install it: {install_command('memory')}")
    chosen = select_agents(args.agent) or detect_agents(home)
    if not chosen:
        raise UsageError(f"no agent was found; install one, or name one with --agent: {', '.join(all_agents())}")
    rows = memory_rows([one for one in chosen if one.servers[0]], home, dry_run=args.dry_run)
    recall = _switch_recall_on(home, dry_run=args.dry_run)
    args.agent = [one.name for one in chosen]
    hooks = deploy_rows(args) if not (args.dry_run and (args.json or recall["changed"])) else []
    failed = any(row["refused"] for row in rows) or any(row["findings"] for row in hooks)
    if args.json:
        print_json({"memory": rows, "recall": recall, "agents": hooks})
        return int(failed)
    for row in rows:
        said = "nothing to change" if not row["changed"] else "would change" if args.dry_run else "registered"
        print(f"hookline: {row['refused']}" if row["refused"] else f"{row['agent']}: memory: {said}: {row['path']}")
    for one in chosen:
        if not one.servers[0]:
            line = "hookline memory serve"
            print(f"{one.name}: where it reads of MCP servers is not known; add one with the command: {line}")
    if recall["changed"]:
        print(f"recall: {'would be ' * args.dry_run}switched on: {recall['path']}")
    print_rows(hooks, args)
    return int(failed)


def _switch_recall_on(home: str, *, dry_run: bool) -> dict[str, Any]:
    """Name the hook in the person's own file, unless one of their files has it; a row of the JSON."""
    from hookline.cli.loading import look
    from hookline.core.files import backup
    from hookline.dialects.native.render import quote
    from hookline.tui.service import config_target, config_text, layer_file, replace_config
    from hookline.tui.toml_edit import set_value

    paths = find_paths(os.environ, home)
    path = config_target(layer_file("user", os.getcwd(), home, paths))
    runtime = look(inspect=True)
    if any(spec.name == "recall" and spec.origin.layer == "user" for spec in runtime.loaded.specs):
        return {"path": path, "changed": False}
    before, table = config_text(path, missing=""), "hooks.user_prompt_submit"
    try:
        scripts = tomllib.loads(before).get("hooks", {}).get("user_prompt_submit", {}).get("scripts", [])
        after = set_value(before, table, "scripts", f"[{', '.join(map(quote, [*scripts, 'recall']))}]")
    except (ValueError, AttributeError, TypeError):
        after = None
    if after is None:
        raise ConfigError(f'{path}: [{table}] cannot be changed exactly; write "recall" into its scripts yourself')
    if not dry_run:
        if before:
            backup(paths.state, path, before)
        replace_config(path, before, after)
    return {"path": path, "changed": True}


def memory_rows(
    agents: Sequence[Agent], home: str, *, dry_run: bool = False, remove: bool = False
) -> list[dict[str, Any]]:
    """Register memory's MCP server and skill with these agents, or remove them; a row of the JSON for each."""
    from hookline.deploy.memory_server import plan_server, plan_skill, write_server, write_skill

    state = find_paths(os.environ, home).state
    if not dry_run and not remove:
        require_outside_agent(state, "change its own registration")
    rows: list[dict[str, Any]] = []
    for agent in agents:
        one, skill, changed = plan_server(agent, home, os.environ, remove=remove), "", False
        if not one.refused:
            skill, changed = plan_skill(agent, home, os.environ), one.changes
        try:
            if changed and not dry_run:
                write_server(state, one)
            if skill and not one.refused and not dry_run:
                changed = write_skill(skill, remove=remove) or changed
        except OSError as error:
            one = replace(one, refused=f"{one.path} cannot be written: {error.strerror or error}")
        row = {"agent": agent.name, "path": one.path, "changed": changed, "skill": skill, "refused": one.refused}
        rows.append(row)
    return rows


def _move(args: Namespace) -> int:
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


def _requirements(args: Namespace) -> tuple[Requirements, apply.Ledger]:
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
    requirements, ledger = _requirements(args)
    chosen = select_files(args.agent, args.scope or "user", requirements.here, requirements.home)
    versions = {} if args.dry_run else agent_versions([aim.agent for aim in chosen], os.environ, requirements.home)
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


def _status(args: Namespace, requirements: Requirements) -> int:
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
