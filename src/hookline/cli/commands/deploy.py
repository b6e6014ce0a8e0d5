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
from argparse import ArgumentParser, ArgumentTypeError, Namespace
from collections.abc import Sequence

from hookline.cli.commands.deploy_memory import deploy_memory
from hookline.cli.commands.deploy_move import deploy_move
from hookline.cli.commands.deploy_rows import deploy_rows, find_requirements, print_rows
from hookline.cli.commands.deploy_status import print_status
from hookline.cli.options import add_json
from hookline.core.agents import Scope, all_agents
from hookline.deploy.requirements import (
    SCOPES,
)
from hookline.deploy.transport import CHOICES


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


def add_selection(
    parser: ArgumentParser, agents: str = "all found", scope: str = "user", scopes: Sequence[Scope] = SCOPES
) -> None:
    """``agents`` and ``scope`` name the defaults, for the help."""
    names = ", ".join(all_agents())
    parser.add_argument(
        "--agent", metavar="A", action="append", default=[], help=f"{names} (repeatable; default: {agents})"
    )
    parser.add_argument("--scope", choices=scopes, default=None, help=f"whose file (default: {scope})")


def run(args: Namespace) -> int:
    if args.status:
        return print_status(args, find_requirements(args)[0])
    if args.move:
        return deploy_move(args)
    if args.memory:
        return deploy_memory(args)
    rows = deploy_rows(args)
    print_rows(rows, args)
    if any(row["state"] == "not approved" for row in rows):
        return os.EX_CONFIG
    return int(any(row["findings"] for row in rows))
