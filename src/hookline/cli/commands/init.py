"""Guard your agents in one step: choose, see what will be written, write it, register it, and watch it refuse.

  hookline init                                    ask, then do it
  hookline init --yes                              every agent that is found, the standard guard, for you
  hookline init --yes --watch                      refuse nothing, record what would have been refused
  hookline init --agent codex --guard strict --scope project
  hookline init --yes --pack secrets --pack notify  also packs, as hookline add hookline:NAME adds them

It writes [guard] into hookline.toml (yours, or the project's with --scope project, where it is approved too), registers
hookline as hookline deploy does, and sends every agent's own event for rm -rf ~ through the new registration. Nothing is
deleted by that: the event only asks. Doing it again changes nothing, or what you choose differently.

--json prints {"scope", "file", "policy", "changed", "agents": […]}; each agent has the fields of hookline deploy --json
and "probe": {"command", "refused", "answer"}. The exit code is 1 if an agent is not guarded.
"""

from __future__ import annotations

import os
import sys
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Sequence
from typing import Any

from hookline.cli.commands.add import install
from hookline.cli.commands.deploy import add_selection
from hookline.cli.commands.deploy_rows import deploy_rows, print_rows
from hookline.cli.commands.packs import own_pack_lines
from hookline.cli.loading import look
from hookline.cli.options import add_json
from hookline.cli.output import did_you_mean, paint, print_json, safe
from hookline.cli.pack_install import find_place, review
from hookline.core._dataclass import dataclass
from hookline.core.agents import Scope, all_agents, select_agents
from hookline.core.errors import ConfigError, UsageError
from hookline.core.files import backup
from hookline.core.hook import Function, HookSpec
from hookline.core.paths import Paths, find_paths, home_directory
from hookline.deploy.requirements import AgentFile, detect_agents, select_files
from hookline.dialects.native.guard import POLICIES, TABLE
from hookline.doctor.guard_probe import PROBED, probe_guard
from hookline.packs.fetch import fetch, own_packs
from hookline.packs.source import parse_source
from hookline.state.protection import require_outside_agent
from hookline.tui.service import config_target, config_text, layer_file, replace_config
from hookline.tui.toml_edit import set_value

_DEFAULT = "standard"
_ABOUT = {
    "watch": "refuses nothing, and records what standard would refuse: hookline guard report",
    "standard": "refuses irreversible loss, leaks, code from the network and changes of the guard",
    "strict": "also secrets, privileges, publishing and infrastructure; asks about what it cannot read",
}
_SCOPES: dict[Scope, str] = {"user": "you, in every project", "project": "everybody who works on this project"}
_NO_TERMINAL = "there is no terminal to ask at; to take the usual answers: hookline init --yes"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Setup:
    """What was chosen, and how hookline.toml looks before and after."""

    files: tuple[AgentFile, ...]
    policy: str
    scope: Scope
    path: str
    before: str
    after: str
    packs: tuple[str, ...] = ()

    @property
    def changes(self) -> bool:
        return self.before != self.after


def configure(parser: ArgumentParser) -> None:
    add_selection(parser, scopes=tuple(_SCOPES))
    parser.add_argument(
        "--guard", choices=POLICIES, help=f"which guard (default: the one that is there, or {_DEFAULT})"
    )
    parser.add_argument("--watch", action="store_true", help="refuse nothing, only record: short for --guard watch")
    names = ", ".join(own_packs())
    parser.add_argument(
        "--pack",
        metavar="P",
        action="append",
        default=[],
        help=f"also add this pack: {names}, or any source (repeatable)",
    )
    parser.add_argument("--yes", action="store_true", help="ask nothing")
    add_json(parser)


def run(args: Namespace) -> int:
    home = home_directory(os.environ)
    paths = find_paths(os.environ, home)
    require_outside_agent(paths.state, "set up its own guard")
    setup = _choose(args, paths, home)
    if not args.json:
        _show(setup, home)
    if not args.yes and not _confirm():
        print("Nothing changed.", file=sys.stderr)
        return 1
    _write(setup, paths)
    _add_packs(setup)
    names = [one.agent.name for one in setup.files]
    asked = Namespace(
        agent=names, scope=setup.scope, events=[], dry_run=False, door=None, status=False, json=args.json,
        approve=any(one.agent.needs_approval for one in setup.files),
    )  # fmt: skip
    rows = deploy_rows(asked)
    if not args.json:
        print_rows([row for row in rows if row["state"] != "not approved"], asked)  # the probe says why
    for row in rows:
        row["probe"] = probe_guard(row, setup.policy, paths)
    return _report(setup, rows, args)


# ── choosing ─────────────────────────────────────────────────────────────────────────────────────────


def _choose(args: Namespace, paths: Paths, home: str) -> _Setup:
    """From the options, and by questions where one is left. Raises what is in the way before anything is written."""
    if args.watch and args.guard not in {None, "watch"}:
        raise UsageError(f"--watch refuses nothing, and --guard {args.guard} does; leave one out")
    named = [agent.name for agent in select_agents(args.agent)]
    if not args.yes and not (sys.stdin and sys.stdin.isatty()):
        raise UsageError(_NO_TERMINAL)
    names = named or _ask_agents(home, yes=args.yes)
    scope: Scope = args.scope or (_ask("For whom?", _SCOPES, "user", yes=args.yes))  # type: ignore[assignment]
    path = config_target(layer_file(scope, os.getcwd(), home, paths))
    before = config_text(path, missing="")
    there = _policy(path, before)
    wanted = "watch" if args.watch else args.guard or _ask("Which guard?", _ABOUT, there or _DEFAULT, yes=args.yes)
    after = before if wanted == there else set_value(before, TABLE, "policy", f'"{wanted}"')
    if after is None:
        raise ConfigError(f'{path}: [guard] cannot be changed exactly; write policy = "{wanted}" into it yourself')
    packs = tuple(args.pack) or _ask_packs(yes=args.yes)
    known = own_packs()
    sources = tuple(f"hookline:{name}" if name in known else name for name in packs)
    for source in sources:
        parse_source(source, os.getcwd(), home)
    files = tuple(select_files(names, scope, os.getcwd(), home))
    return _Setup(files=files, policy=wanted, scope=scope, path=path, before=before, after=after, packs=sources)


def _ask_packs(*, yes: bool) -> tuple[str, ...]:
    known = own_packs()
    if yes or not known:
        return ()
    print(f"Which packs? Name any number of them.\n{own_pack_lines(known)}")
    while True:
        answer = _line("[none] ").replace(",", " ").split()
        if answer in (["none"], ["n"], ["no"]):
            return ()
        wrong = [name for name in answer if name not in known and not {":", "/", "@"} & set(name)]
        if not wrong:
            return tuple(answer)
        print(f"There is no pack {wrong[0]!r}{did_you_mean(wrong[0], known) or '.'}")


def _policy(path: str, text: str) -> str:
    """The policy that is in force, "" without a guard. Raises ConfigError where the file cannot be read."""
    try:
        table = tomllib.loads(text).get(TABLE)
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{path} is broken: {error}; correct it, then run hookline init again") from None
    if table is None:
        return ""
    if not isinstance(table, dict):
        raise ConfigError(f"{path}: guard must be a table; write [guard], then run hookline init again")
    found = table.get("policy")
    return found if found in POLICIES else "" if found else "" if "policy" in table else _DEFAULT


def _ask_agents(home: str, *, yes: bool) -> list[str]:
    found = [agent.name for agent in detect_agents(home)]
    if not found:
        raise UsageError(f"no agent was found; install one, or name one with --agent: {', '.join(all_agents())}")
    if yes:
        return found
    print(f"Agents: {', '.join(found)}")
    while True:
        answer = _line("Guard which of them? [all] ").replace(",", " ").split()
        try:
            return [agent.name for agent in select_agents(answer)] if answer and answer != ["all"] else found
        except UsageError as error:
            print(error)


def _ask(question: str, options: dict[Any, str], default: str, *, yes: bool) -> str:
    """One of the options; a beginning of its name is enough."""
    if yes:
        return default
    print(question)
    for name, about in options.items():
        print(f"  {paint(name.ljust(9), 'bold')} {about}")
    while True:
        answer = _line(f"[{default}] ").lower()
        found = [name for name in options if name.startswith(answer)] if answer else [default]
        if len(found) == 1:
            return str(found[0])
        print(f"Type one of {', '.join(options)}.")


def _confirm() -> bool:
    return _line("Do this? [Y/n] ").lower() in {"", "y", "yes"}


def _line(question: str) -> str:
    sys.stdout.flush()
    try:
        return input(question).strip()
    except EOFError:
        raise UsageError(_NO_TERMINAL) from None


def _show(setup: _Setup, home: str) -> None:
    """What will be written, and where."""
    if setup.changes:
        print(f"{paint('write', 'bold')}     {_short(setup.path, home)}")
        for line in _difference(setup):
            print(f"            {safe(line)}")
        if setup.scope == "project":
            print(f"{paint('approve', 'bold')}   the guard in it, by its exact content")
    for source in setup.packs:
        print(f"{paint('add', 'bold')}       the pack {safe(source)}, as hookline add shows it")
    for one in setup.files:
        print(f"{paint('register', 'bold')}  hookline with {one.agent.title}: {_short(one.path, home)}")
    print(f"{paint('try', 'bold')}       {PROBED} in each agent's words; it is only asked about, not run")


def _short(path: str, home: str) -> str:
    return f"~{path[len(home) :]}" if path.startswith(f"{home}/") else path


def _difference(setup: _Setup) -> Sequence[str]:
    import difflib  # only a change needs it

    lines = difflib.ndiff(setup.before.splitlines(), setup.after.splitlines())
    return [line.rstrip() for line in lines if line[0] in "+-"]


# ── doing ────────────────────────────────────────────────────────────────────────────────────────────


def _write(setup: _Setup, paths: Paths) -> None:
    if setup.changes:
        if setup.before:
            backup(paths.state, setup.path, setup.before)
        replace_config(setup.path, setup.before, setup.after, "write it elsewhere (--scope user or project)")
    if setup.scope == "project":
        _approve_guard(setup.path)


def _add_packs(setup: _Setup) -> None:
    """What a person chose by name and confirmed is approved as it is."""
    place = find_place()
    for source in setup.packs:
        fetched = fetch(parse_source(source, place.cwd, place.home), place.home)
        install(place, review(place, fetched, place.file(setup.scope)))


def _approve_guard(path: str) -> None:
    """The guard alone: what else the file holds is reviewed with ``hookline trust``."""
    runtime = look(inspect=True)
    assert runtime.trust is not None, "a project's hooks need trust"
    guards = [spec for spec in runtime.loaded.specs if spec.origin.file == path and _is_guard(spec)]
    new = [spec for spec in guards if runtime.verdicts[spec.id].state != "trusted"]
    plain = [spec for spec, verdict in runtime.contents if verdict.state != "trusted" and not spec.extra]
    if new:
        runtime.trust.approve([*new, *(spec for spec in plain if spec.origin.file == path)])


def _is_guard(spec: HookSpec) -> bool:
    return isinstance(spec.action, Function) and bool(spec.action.given)


def _report(setup: _Setup, rows: Sequence[dict[str, Any]], args: Namespace) -> int:
    changed = setup.changes or any(row["changed"] for row in rows)
    good = all(row["probe"]["refused"] is (setup.policy != "watch") for row in rows)
    if args.json:
        print_json({
            "scope": setup.scope, "file": setup.path, "policy": setup.policy, "changed": changed, "agents": list(rows),
        })  # fmt: skip
        return int(not good)
    for source in setup.packs:
        print(f"{paint('added', 'green')} the pack {safe(source)}; see it with: hookline packs")
    if not changed and not setup.packs:
        print(f"Nothing to change: the {setup.policy} guard was set up already.")
    for row in rows:
        _print_probe(row["agent"], row["probe"], setup.policy)
    if good:
        print("See what it does: hookline guard report, hookline log. Ask it: hookline guard explain 'COMMAND'")
        if setup.policy == "watch":
            print("When you have seen enough, let it refuse: hookline init --guard standard")
    else:
        print("hookline: not every agent is guarded; to find out why: hookline doctor", file=sys.stderr)
    return int(not good)


def _print_probe(agent: str, probe: dict[str, Any], policy: str) -> None:
    if probe["refused"]:
        print(f"{agent} {paint('refuses', 'green')} {PROBED}: {safe(probe['answer'])}")
    elif policy == "watch" and probe["refused"] is False:
        print(f"{agent} lets {PROBED} through, because the guard only watches: {safe(probe['answer'])}")
    else:
        print(f"{agent} does {paint('not refuse', 'red')} {PROBED}: {safe(probe['answer'])}")
