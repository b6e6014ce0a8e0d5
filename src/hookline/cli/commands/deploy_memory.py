"""``hookline deploy --memory``: agents ask memory through its MCP server, and recall what fits a prompt."""

from __future__ import annotations

import os
import tomllib
from argparse import Namespace
from collections.abc import Sequence
from typing import Any

from hookline.cli.commands.deploy_rows import deploy_rows, print_rows
from hookline.cli.output import print_json
from hookline.core._dataclass import replace
from hookline.core.agents import Agent, all_agents, select_agents
from hookline.core.errors import ConfigError, UsageError
from hookline.core.paths import find_paths, home_directory
from hookline.deploy.requirements import detect_agents
from hookline.state.protection import require_outside_agent


def deploy_memory(args: Namespace) -> int:
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
