"""What the commands for packs share: show what a pack would do, ask, and write it down."""

from __future__ import annotations

import os
import shutil
import sys
import tomllib
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Sequence
from typing import Any

from hookline.cli.loading import look
from hookline.cli.output import confirm, paint, plural, safe
from hookline.config.discover import lookup_for
from hookline.config.layers import LayerLoader
from hookline.config.packs import pack_hooks
from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import AGENTS
from hookline.core.code_variables import CODE_VARIABLES
from hookline.core.describe import action_text, conditions
from hookline.core.errors import ConfigError, UsageError
from hookline.core.event import GUARDED, event_kind
from hookline.core.files import backup
from hookline.core.hook import Command, HookSpec
from hookline.core.paths import Paths, find_paths, home_directory
from hookline.core.problem import Problem
from hookline.dialects.event_lookup import native_events
from hookline.dialects.native.render import quote
from hookline.engine.lint import program_problems
from hookline.packs.fetch import Fetched
from hookline.packs.needs import Needs, find_needs, private_environment
from hookline.packs.store import Approved, PackStore
from hookline.state import own_guards
from hookline.state.protection import require_outside_agent
from hookline.tui.service import config_target, config_text, layer_file, replace_config
from hookline.tui.toml_edit import append_table, remove_table


@dataclass(frozen=True, slots=True, kw_only=True)
class PackUser:
    """Who types the command, and where their files are."""

    cwd: str
    home: str
    paths: Paths

    @property
    def store(self) -> PackStore:
        return PackStore(self.paths)

    def file(self, scope: str) -> str:
        return config_target(layer_file(scope, self.cwd, self.home, self.paths))


def find_place() -> PackUser:
    home = home_directory(os.environ)
    return PackUser(cwd=os.getcwd(), home=home, paths=find_paths(os.environ, home))


def add_scope(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--scope", choices=("user", "project"), default="user", help="whose hookline.toml (default: user)"
    )


def may_change(place: PackUser) -> None:
    """Raises UsageError inside an agent that hookline guards."""
    require_outside_agent(place.paths.state, "approve or remove packs")


# ── showing ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """A pack in the store, with what it would do; nothing of it has run."""

    fetched: Fetched
    row: Approved
    specs: tuple[HookSpec, ...]
    problems: tuple[Problem, ...]
    needs: Needs
    #: What some hook cannot start without, and is not there: what is wrong, and what to do about it.
    unable: tuple[tuple[str, str], ...]


def review(
    place: PackUser, fetched: Fetched, file: str, env: Sequence[tuple[str, str]] = (), *, closed: bool | None = None
) -> Review:
    """Puts the files into the store, where they are inert until they are approved. Raises PackError.

    Guards of our own fail closed, and those that cannot start; others as their authors expect it, unless somebody says
    otherwise.
    """
    bad = [name for name, _ in env if name in CODE_VARIABLES]
    if bad:
        raise UsageError(f"{bad[0]} makes programs load code; a pack's settings cannot set it")
    digest = place.store.put(fetched.tree)
    row = Approved(
        file=file, source=fetched.source.text, revision=fetched.revision, digest=digest, name=fetched.layout.name,
        fail_closed=bool(closed), env=tuple(env),
    )  # fmt: skip
    reading = LayerLoader(
        lookup=lookup_for(cwd=place.cwd, home=place.home, environ=os.environ, paths=place.paths), paths=place.paths
    )
    specs = pack_hooks(reading, place.store, row, fetched.layout.files)
    guards = dict.fromkeys(
        spec.event for spec in specs if spec.enabled and spec.mode == "sync" and spec.event in GUARDED
    )
    needs = find_needs(fetched.tree, tuple(filter(None, map(_command_text, specs))))
    place.store.link_modules(digest, needs.modules)
    unable = tuple(_unable(place, specs, needs))
    hard = fetched.source.kind == "own" or bool(unable and guards) if closed is None else closed
    return Review(
        fetched=fetched, row=replace(row, guards=tuple(guards), fail_closed=hard), specs=specs,
        problems=tuple(reading.problems), needs=needs, unable=unable,
    )  # fmt: skip


def _command_text(spec: HookSpec) -> str:
    action = spec.action
    return action.text or " ".join(action.argv) if isinstance(action, Command) else ""


def _unable(place: PackUser, specs: Sequence[HookSpec], needs: Needs) -> Iterator[tuple[str, str]]:
    """Scripts that say what they need get a ``uv`` with them (``packs.needs``) if there is none."""
    comes = {"uv"} if needs.scripts and not shutil.which("uv") else set[str]()
    asked = [spec for spec in specs if comes.isdisjoint(_command_text(spec).split())]
    for problem in program_problems(asked, place.cwd, os.environ):
        yield problem.finding, problem.fix
    for name, folder in needs.modules.items():
        if not folder:
            yield f"the node module {name} is not installed", f"npm install --global {name}; then add the pack again"


def hook_lines(one: Review) -> list[str]:
    """What would run, when: one line each, the same for the same hooks."""
    root = os.path.dirname(os.path.dirname(one.specs[0].origin.file)) if one.specs else ""
    lines = []
    for spec in one.specs:
        tests = "; ".join(test.replace("the tool's name matches ", "") for test in conditions(spec)) or "always"
        action = action_text(spec).replace(spec.environ.get("PLUGIN_ROOT", root), "PACK")
        lines.append(f"{spec.event}, {tests}: {action}{'' if spec.mode == 'sync' else f' ({spec.mode})'}")
    return lines


def show(one: Review) -> None:
    fetched, needs = one.fetched, one.needs
    layout = fetched.layout
    size = sum(len(file.data) for file in fetched.tree.values())
    version = f" {layout.version}" if layout.version else ""
    print(f"{paint(safe(layout.name + version), 'bold')}  {safe(layout.description, 100)}".rstrip())
    at = f" at {fetched.revision}" if fetched.revision else ""
    print(f"  from      {safe(fetched.source.text)}{safe(at)}")
    print(f"  files     {len(fetched.tree)}, {max(size >> 10, 1)} KiB, {one.row.digest}")
    for number, line in enumerate(hook_lines(one)):
        print(f"  {'runs' if not number else '':<9} {safe(line)}")
    for label, names in (
        ("programs", needs.programs), ("touches", needs.touches), ("python", needs.python), ("node", needs.modules)
    ):  # fmt: skip
        if names:
            print(f"  {label:<9} {safe(', '.join(names))}")
    for name, value in one.row.env:
        print(f"  sets      {safe(f'{name}={value}')}")
    for line in doubts(one):
        print(f"  {paint('note', 'yellow')}      {safe(line)}")


def doubts(one: Review) -> list[str]:
    """What a person should know before they approve it."""
    lines = [*missing_lines(one), *one.fetched.notes]
    lines += [f"{os.path.basename(problem.file)} {problem.pointer}: {problem.finding}" for problem in one.problems]
    for event in dict.fromkeys(spec.event for spec in one.specs):
        without = [agent.name for agent in AGENTS.values() if event not in native_events(agent)]
        having = [agent.name for agent in AGENTS.values() if agent.name not in without]
        if without and event_kind(event).family == "agent":
            few = len(without) <= len(having)
            lines.append(
                f"{event} {'does not exist in' if few else 'exists only in'} {', '.join(without if few else having)}"
            )
    kinds = {file.part.partition(":")[0] for file in one.fetched.layout.files} & {"skill", "command"}
    lines += [
        f"hooks in the front matter of a {kind} run all the time, since agents do not tell when it is in use"
        for kind in sorted(kinds)
    ]
    lines += [f"{file.path} is left out: it is the same for {file.dialect}" for file in one.fetched.layout.left_out]
    if not one.specs:
        lines.append("none of its hooks can be run")
    return lines


def missing_lines(one: Review) -> list[str]:
    """What is not on this machine, and what that means for a guard."""
    lines = [f"{finding}; {fix}" for finding, fix in one.unable]
    if one.unable and one.row.guards:
        meaning = "refuse what they guard" if one.row.fail_closed else "let everything pass"
        lines.append(f"until then its guards {meaning}; --on-failure ignore or deny decides it")
    return lines + [f"{name} is not installed: hooks that need it fail until it is" for name in one.needs.missing]


def ask(question: str, *, yes: bool) -> bool:
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("there is no terminal to ask at; to approve what is shown: add --yes")
    return confirm(question)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def approve(place: PackUser, one: Review) -> None:
    """Now it may run. Raises PackError if what it needs cannot be installed."""
    programs = private_environment(one.needs, place.paths.data)
    place.store.approve(replace(one.row, programs=programs), one.fetched.layout.files)


def table_text(row: Approved) -> str:
    lines = [
        "[[pack]]",
        f"source = {quote(row.source)}",
        *([f"revision = {quote(row.revision)}"] if row.revision else []),
        f"digest = {quote(row.digest)}",
    ]
    lines += ['on_failure = "deny"'] if row.fail_closed else []
    lines += [f"env = {{ {', '.join(f'{name} = {quote(value)}' for name, value in row.env)} }}"] if row.env else []
    return "\n".join(lines) + "\n"


def read_tables(file: str) -> list[dict[str, Any]]:
    """The ``[[pack]]`` tables of a file. Raises ConfigError."""
    try:
        found = tomllib.loads(config_text(file, missing="")).get("pack", [])
    except tomllib.TOMLDecodeError as error:
        raise ConfigError(f"{file} is broken: {error}; correct it first") from None
    return [one for one in found if isinstance(one, dict)] if isinstance(found, list) else []


def change_file(place: PackUser, file: str, source: str, row: Approved | None) -> None:
    """The file with the pack's table instead of the one of this source; without a row, without it. Keeps other bytes."""
    before = config_text(file, missing="")
    text = before
    for index in reversed([number for number, one in enumerate(read_tables(file)) if one.get("source") == source]):
        left = remove_table(text, "pack", index)
        if left is None:
            raise ConfigError(f"{file}: the pack {source} cannot be removed exactly; delete its table with an editor")
        text = left
    after = append_table(text, table_text(row)) if row else text
    if after != before:
        if before:
            backup(place.paths.state, file, before)
        replace_config(file, before, after)
        own_guards.accept(place.paths.state, file)


def approve_plain_file(file: str) -> None:
    """A project's file that holds nothing besides packs needs no further approval."""
    runtime = look(inspect=True)
    plain = [
        spec
        for spec, verdict in runtime.contents
        if spec.origin.file == file and verdict.state != "trusted" and not spec.extra
    ]
    hooks = [spec for spec in runtime.loaded.specs if spec.origin.file == file]
    if plain and not hooks and runtime.trust is not None:
        runtime.trust.approve(plain)


def deploy_missing(*, json: bool) -> list[str]:
    """Register what the hooks now need with the agents that call hookline already; what else a person should do."""
    from hookline.cli.commands.deploy_rows import deploy_rows
    from hookline.core.agents import all_agents
    from hookline.gateway.required_events import active_hooks, missing_events, scopes_by_agent

    home = home_directory(os.environ)
    runtime = look()
    hooks, cwd = active_hooks(runtime), runtime.engine.cwd
    calling = scopes_by_agent(all_agents().values(), cwd, home, os.environ)
    if not calling:
        return ["No agent calls hookline yet: hookline deploy"]
    for agent, scope in calling.items():
        if any(missing_events(hooks, [all_agents()[agent]], cwd, home, os.environ)):
            asked = Namespace(
                agent=[agent], scope=scope, events=[], dry_run=False, door=None, status=False, json=json, approve=False
            )
            for row in deploy_rows(asked):
                print(
                    f"{row['agent']}: registered {', '.join(row['events'])}"
                    if not row["findings"]
                    else f"{row['agent']}: {row['findings'][0]}",
                    file=sys.stderr,
                )
    return []


def summary(one: Review) -> str:
    return f"{one.row.name}: {plural(len(one.specs), 'hook')}, {one.row.source}{f' at {one.row.revision[:12]}' if one.row.revision else ''}"
