"""Guard many machines by one policy, over a NATS broker of your own.

  hookline fleet init fleet/ --server nats.example.com:4222      keys and the broker's configuration; keep fleet/ to yourself
  hookline fleet add laptop-7 --group developers                 writes laptop-7.creds, all that this machine needs
  sudo hookline fleet join laptop-7.creds                        on the machine
  hookline fleet revoke laptop-7                                 the broker refuses it from now on
  hookline fleet members

init, add, revoke and members work on the folder of the fleet's owner: --fleet DIR, or fleet/ in the current directory.
"""

from __future__ import annotations

import os
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace

from hookline.cli.output import print_json, safe, table
from hookline.cli.parser import add_json
from hookline.core.errors import ConfigError
from hookline.core.paths import Paths, find_paths
from hookline.fleet import authority as authorities
from hookline.fleet.subjects import ROLES


def configure(parser: ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    one = verbs.add_parser("init", description="Make the keys of a fleet, and the configuration of its broker.")
    one.add_argument("folder", metavar="DIR", help="where they go; only its owner can issue credentials")
    one.add_argument("--server", metavar="HOST:PORT", action="append", required=True, help="as machines reach it; three times for a cluster")  # fmt: skip
    one.add_argument("--team", action="append", help="an account of its own; repeat for several (default: team)")
    one = verbs.add_parser("add", description="Issue credentials: one file, for one machine or person.")
    one.add_argument("name", metavar="NAME", help="of the machine, or of the person")
    one.add_argument("--group", default="all", help="whose policy it gets (default: all)")
    one.add_argument("--role", choices=ROLES, default="machine", help="sink: reads records; oncall: answers questions; admin: all of a team's")  # fmt: skip
    one.add_argument("-o", "--output", metavar="FILE", default="", help="where to write them (default: NAME.creds)")
    _add_owner(one)
    one = verbs.add_parser("revoke", description="Let the broker refuse a machine or a person from now on.")
    one.add_argument("name", metavar="NAME")
    _add_owner(one)
    one = verbs.add_parser("members", description="Who has credentials.")
    _add_owner(one)
    add_json(one)
    one = verbs.add_parser("join", description="Make this machine part of a fleet; as root for the whole machine.")
    one.add_argument("credentials", metavar="CREDS", help="the file from hookline fleet add; delete it afterwards")
    _add_root(one)
    one = verbs.add_parser("leave", description="Forget the fleet. The policy stays in force: hookline policy remove.")
    _add_root(one)
    one = verbs.add_parser("link", description="Hold the connection; the daemon and systemd start this.")
    one.add_argument("--parent", type=int, default=0, help=SUPPRESS)
    _add_root(one)


def _add_owner(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--fleet", metavar="DIR", default="fleet", help="the folder of the fleet's owner (default: fleet)"
    )
    parser.add_argument("--team", default="", help="where there are several")


def _add_root(parser: ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", default="", help=SUPPRESS)


def run(args: Namespace) -> int:
    return {
        "init": _init, "add": _add, "revoke": _revoke, "members": _members, "join": _join, "leave": _leave, "link": _link,
    }[args.verb](args)  # fmt: skip


def _paths(args: Namespace) -> Paths:
    found = find_paths(os.environ, os.environ.get("HOME") or os.path.expanduser("~"))
    machine = os.path.abspath(args.root).rstrip("/") + found.machine if args.root else found.machine
    return Paths(config=found.config, state=found.state, data=found.data, machine=machine)


# ── the owner ────────────────────────────────────────────────────────────────────────────────────────


def _init(args: Namespace) -> int:
    made = authorities.init(args.folder, args.server, args.team or ["team"])
    server = os.path.join(args.folder, authorities.SERVER)
    print(f"{args.folder} issues credentials: keep it to yourself, and back it up")
    print(f"{server} is for the broker; there: nats-server -c nats-1.conf")
    for at in range(1, len(made.servers)):
        print(f"  and for {made.servers[at]}: nats-server -c nats-{at + 1}.conf")
    return 0


def _add(args: Namespace) -> int:
    authority = authorities.load(args.fleet)
    path = args.output or f"{args.name}.creds"
    if os.path.lexists(path):
        raise ConfigError(f"{path} is there already; credentials are never overwritten: -o FILE")
    _, text = authorities.add(authority, authority.team(args.team), args.role, args.name, args.group)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)
    then = f"sudo hookline fleet join {path}" if args.role == "machine" else "keep it where only they read it"
    print(f"{path}: {args.role} {args.name}, group {args.group}; {then}")
    return 0


def _revoke(args: Namespace) -> int:
    import asyncio

    from hookline.fleet.revoke import tell_servers

    authority = authorities.load(args.fleet)
    team = authority.team(args.team)
    changed = authorities.revoke(authority, team, args.name)
    servers = asyncio.run(tell_servers(changed, team))
    print(f"{args.name} is revoked; {servers} of {len(changed.servers)} servers know it, and refuse it from now on")
    if servers < len(changed.servers):
        print("the others learn it when they are back", file=sys.stderr)
    return 0


def _members(args: Namespace) -> int:
    members = authorities.load(args.fleet).members
    rows = [{"name": one.name, "role": one.role, "team": one.team, "group": one.group, "revoked": bool(one.revoked)} for one in members]  # fmt: skip
    if args.json:
        print_json(rows)
    else:
        shown = [(safe(one.name), one.role, one.team, one.group, "revoked" if one.revoked else "") for one in members]
        print(table(("NAME", "ROLE", "TEAM", "GROUP", ""), shown))
    return 0


# ── a machine ────────────────────────────────────────────────────────────────────────────────────────


def _join(args: Namespace) -> int:
    import asyncio

    from hookline.fleet.connection import connected
    from hookline.fleet.join import join

    paths = _paths(args)
    joined = join(paths, args.credentials)
    credentials = joined.credentials
    print(f"this machine is {credentials.name} of {credentials.team}, group {credentials.group}")
    if not joined.folder.startswith(paths.machine):
        print("only your own records: root joins a whole machine and gives it the policy: sudo hookline fleet join")

    async def knock() -> None:
        async with connected(credentials):
            pass

    try:
        asyncio.run(knock())
    except ConfigError as error:
        print(f"{error}; it will be tried again", file=sys.stderr)
    return 0


def _leave(args: Namespace) -> int:
    from hookline.fleet.join import leave, require_joined

    joined = require_joined(_paths(args))
    leave(joined)
    print(f"this machine has left the fleet; the owner makes its credentials void: hookline fleet revoke {joined.credentials.name}")  # fmt: skip
    return 0


def _link(args: Namespace) -> int:
    from hookline.core.errors import StateError
    from hookline.fleet import link
    from hookline.fleet.join import require_joined

    paths = _paths(args)
    joined = require_joined(paths)
    there = os.path.join(joined.folder, "machine.creds")

    def wanted() -> bool:
        return os.path.exists(there) and (not args.parent or os.getppid() == args.parent)

    if not link.run(joined, paths, wanted) and not args.parent:
        raise StateError("another process is the link of this machine; systemctl status hookline-fleet, or its daemon")
    return 0
