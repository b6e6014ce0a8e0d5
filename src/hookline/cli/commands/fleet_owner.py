"""``hookline fleet init``, ``add``, ``revoke`` and ``members``: on the folder of the fleet's owner."""

from __future__ import annotations

import os
import sys
from argparse import ArgumentParser, Namespace

from hookline.cli.commands.fleet_machine import Add
from hookline.cli.options import add_json
from hookline.cli.output import print_json, safe, table
from hookline.core.errors import ConfigError
from hookline.fleet import authority as authorities
from hookline.fleet.subjects import ROLES


def configure_owner(add: Add) -> None:
    one = add("init", description="Make the keys of a fleet, and the configuration of its broker.")
    one.add_argument("folder", metavar="DIR", help="where they go; only its owner can issue credentials")
    one.add_argument("--server", metavar="HOST:PORT", action="append", required=True, help="as machines reach it; three times for a cluster")  # fmt: skip
    one.add_argument(
        "--team", action="append", help="a team with an account of its own; repeat for several (default: team)"
    )
    one = add("add", description="Issue credentials: one file, for one machine or person.")
    one.add_argument("name", metavar="NAME", help="of the machine, or of the person")
    one.add_argument("--group", default="all", help="whose policy it gets (default: all)")
    one.add_argument("--role", choices=ROLES, default="machine", help="sink: reads records; oncall: answers questions; admin: all of a team's")  # fmt: skip
    one.add_argument("-o", "--output", metavar="FILE", default="", help="where to write them (default: NAME.creds)")
    add_owner(one)
    one = add("revoke", description="Let the broker refuse a machine or a person from now on.")
    one.add_argument("name", metavar="NAME", help="of the machine, or of the person")
    add_owner(one)
    one = add("members", description="Show who has credentials.")
    add_owner(one)
    add_json(one)


def add_owner(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--fleet", metavar="DIR", default="fleet", help="the folder of the fleet's owner (default: fleet)"
    )
    parser.add_argument("--team", default="", help="which team, if there are several")


def run_init(args: Namespace) -> int:
    made = authorities.init(args.folder, args.server, args.team or ["team"])
    server = os.path.join(args.folder, authorities.SERVER)
    print(f"{args.folder} issues credentials: keep it to yourself, and back it up")
    print(f"{server} is for the broker; there: nats-server -c nats-1.conf")
    for at in range(1, len(made.servers)):
        print(f"  and for {made.servers[at]}: nats-server -c nats-{at + 1}.conf")
    return 0


def run_add(args: Namespace) -> int:
    authority = authorities.load(args.fleet)
    path = args.output or f"{args.name}.creds"
    if os.path.lexists(path):
        raise ConfigError(f"{path} is there already; credentials are never overwritten: -o FILE")
    _, text = authorities.add(authority, authority.team(args.team), args.role, args.name, args.group)
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w", encoding="ascii") as file:
        file.write(text)
    then = {
        "machine": f"there: sudo hookline fleet join {path} --key owner.key.pub",
        "oncall": f"there: install -D -m 600 {path} ~/.config/hookline/fleet/oncall.creds",
        "sink": f"hookline fleet sink --to stdout --credentials {path}",
    }.get(args.role, "keep it where only they read it")
    print(f"{path}: {args.role} {args.name}, group {args.group}; {then}")
    return 0


def run_revoke(args: Namespace) -> int:
    import asyncio

    from hookline.fleet.streams import tell_servers

    authority = authorities.load(args.fleet)
    team = authority.team(args.team)
    changed = authorities.revoke(authority, team, args.name)
    servers = asyncio.run(tell_servers(changed, team))
    print(f"{args.name} is revoked; {servers} of {len(changed.servers)} servers know it, and refuse it from now on")
    if servers < len(changed.servers):
        print("the others learn it when they are back", file=sys.stderr)
    return 0


def run_members(args: Namespace) -> int:
    members = authorities.load(args.fleet).members
    rows = [{"name": one.name, "role": one.role, "team": one.team, "group": one.group, "revoked": bool(one.revoked)} for one in members]  # fmt: skip
    if args.json:
        print_json(rows)
    else:
        shown = [(safe(one.name), one.role, one.team, one.group, "revoked" if one.revoked else "") for one in members]
        print(table(("NAME", "ROLE", "TEAM", "GROUP", ""), shown))
    return 0
