"""Carry the hooks of one agent to another: into hookline.toml, which calls them as their own agent does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from glob import escape, glob
from typing import Any

from hookline.cli.capabilities import ability
from hookline.cli.loading import look
from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import Agent, Scope, select_agents
from hookline.core.errors import UsageError
from hookline.core.event import EVENTS
from hookline.core.hook import HookSpec
from hookline.core.paths import find_paths, project_root
from hookline.dialects import dialect_named
from hookline.dialects.tool_matchers import hides_server, translate_tools
from hookline.engine.lint_matchers import why_no_server


@dataclass(frozen=True, slots=True, kw_only=True)
class Move:
    """What is carried, and what of it the other agent cannot do."""

    source: Agent
    target: Agent
    #: The hookline.toml, its text, and what is added to it.
    file: str
    before: str
    added: str
    #: For each hook: {"hook", "event", "file", "carried", "lost"}.
    hooks: tuple[dict[str, Any], ...]
    #: What could not be read of the files of the first agent.
    problems: tuple[str, ...]

    def write(self) -> None:
        from hookline.tui.service import replace_config

        if self.added:
            replace_config(self.file, self.before, _joined(self.before, self.added))


def plan_move(pair: str, scope: Scope, here: str, home: str) -> Move:
    """``pair`` is what was typed: FROM=TO."""
    import tomllib

    from hookline.tui.service import config_target, config_text, layer_file

    source, target = _agents(pair)
    if scope not in target.files:
        raise UsageError(f"{target.name} has no {scope} scope; it has: {', '.join(target.files)}")
    specs, problems = _hooks_of(source, scope, here, home)
    file = config_target(layer_file(scope, here, home, find_paths(os.environ, home)))
    before = config_text(file, missing="")
    added, rows = _written(specs, source, target, tomllib.loads(before).get("hook", []) if before else [])
    return Move(
        source=source, target=target, file=file, before=before, added=added, hooks=tuple(rows), problems=tuple(problems)
    )


def _agents(pair: str) -> tuple[Agent, Agent]:
    names = pair.split("=")
    if len(names) != 2 or not all(names):
        raise UsageError(f"--move takes FROM=TO, the names of two agents, not {pair!r}")
    source, target = (select_agents([name])[0] for name in names)
    if source is target:
        raise UsageError(f"--move {pair}: that is one agent; name two")
    return source, target


def _hooks_of(agent: Agent, scope: Scope, here: str, home: str) -> tuple[Sequence[HookSpec], list[str]]:
    """Its own hooks; hookline's entries are none."""
    path = agent.config_path(scope, project_root(here, home), home, os.environ)
    if path is None or agent.form == "plugin":
        return (), []
    folder = os.path.dirname(path)
    files = sorted(glob(os.path.join(escape(folder), "*.json"))) if agent.scans else [path]
    files += [os.path.join(folder, agent.inline)] if agent.inline else []
    there = [file for file in files if os.path.isfile(file)]
    if not there:
        return (), []
    runtime = look(config=there, dialect=agent.dialect, inspect=True)
    return runtime.loaded.specs, [str(problem) for problem in runtime.loaded.problems if problem.severity == "error"]


def _written(
    specs: Sequence[HookSpec], source: Agent, target: Agent, known: Sequence[dict[str, Any]]
) -> tuple[str, list[dict[str, Any]]]:
    """The tables to add, none that is there already, and a row for each hook."""
    import tomllib

    native = dialect_named("native")
    tables, used, blocks, rows = [_nameless(one) for one in known], {str(one.get("name")) for one in known}, [], []
    for spec in specs:
        moved, unknown = translate_tools(spec, "native")
        rendered = native.render([moved])
        table = tomllib.loads(rendered.text)["hook"][0] if rendered.text else {}
        name = next(
            one for n in range(1, len(used) + 2) if (one := spec.name if n == 1 else f"{spec.name}-{n}") not in used
        )
        lost = [str(loss.finding) for loss in rendered.losses]
        lost += [f"the matcher {one}: hookline does not know which tool it is" for one in unknown]
        lost += [why_no_server(target)] if hides_server(target, moved) else []
        lost += _losses(spec, source, target)
        carried = bool(table) and spec.enabled
        if carried and _nameless(table) not in tables:
            used.add(name)
            tables.append(_nameless(table))
            blocks.append(native.render([replace(moved, name=name)]).text)
        rows.append(
            {"hook": spec.name, "event": spec.event, "file": spec.origin.file, "carried": carried, "lost": lost}
        )
    return "\n".join(blocks), rows


def _nameless(table: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in table.items() if key != "name"}


def _losses(spec: HookSpec, source: Agent, target: Agent) -> list[str]:
    """What a hook can do in the first agent and cannot in the other."""
    if not spec.enabled:
        return ["it is turned off, so it is not carried"]
    if spec.event not in EVENTS:
        return [f"{target.title} has no event {spec.native_event}, so the hook does not run there"]
    before = ability(source.name, spec.event, {}).losses()
    return [f"in {target.title}, {one}" for one in ability(target.name, spec.event, {}).losses() if one not in before]


def _joined(before: str, added: str) -> str:
    gap = "" if not before else "\n" if before.endswith("\n") else "\n\n"
    return f"{before}{gap}{added}"
