"""``hookline fleet join``, ``leave``, ``link`` and ``status --local``: on a machine of the fleet."""

from __future__ import annotations

import os
import sys
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Callable
from typing import TypeAlias

from hookline.cli.output import paint, print_json, safe
from hookline.core.errors import ConfigError
from hookline.core.paths import Paths, find_paths

#: Seconds after which a link that runs counts as frozen: it gives a sign every second.
_FROZEN = 30.0


#: Adds the parser of a verb.
Add: TypeAlias = Callable[..., ArgumentParser]


def configure_machine(add: Add) -> None:
    one = add("feed", description="Read an account's record for the link; root starts this.")
    one.add_argument("--directory", required=True, help=SUPPRESS)
    one = add("join", description="Make this machine part of a fleet; as root for the whole machine.")
    one.add_argument("credentials", metavar="CREDS", help="the file from hookline fleet add; delete it afterwards")
    one.add_argument(
        "--key", metavar="KEY.pub", default="", help="whose policies this machine accepts; needed only the first time"
    )
    add_root(one)
    one = add("leave", description="Leave the fleet. The policy stays in force; to remove it: hookline policy remove.")
    add_root(one)
    one = add("link", description="Hold the connection; the daemon and systemd start this.")
    one.add_argument("--parent", type=int, default=0, help=SUPPRESS)
    add_root(one)


def add_root(parser: ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", default="", help=SUPPRESS)


def fleet_paths(args: Namespace) -> Paths:
    return find_paths(os.environ, root=args.root)


def run_join(args: Namespace) -> int:
    import asyncio

    from hookline.fleet.connection import connection
    from hookline.fleet.install import PolicyFolder
    from hookline.fleet.join import join, link_runs
    from hookline.fleet.keys import read_public_key

    paths = fleet_paths(args)
    joined = join(paths, args.credentials)
    credentials = joined.credentials
    folder = PolicyFolder(paths)
    if args.key:
        folder.trust(read_public_key(args.key))
    print(f"this machine is {credentials.name} of {credentials.team}, group {credentials.group}")
    if not joined.folder.startswith(paths.machine):
        print("only your own records: root joins a whole machine and gives it the policy: sudo hookline fleet join")
        print("next: hookline daemon start, which holds the connection; then: hookline fleet status --local")
    elif folder.trusted() is None:
        print(f"it trusts no key, so it takes no policy: sudo hookline fleet join {args.credentials} --key owner.key.pub", file=sys.stderr)  # fmt: skip
    elif link_runs(joined):
        print("its link runs already, and takes the policy within some minutes: hookline fleet status --local")
    else:
        print("next: hookline fleet link, as a service that always runs; then: hookline fleet status --local")

    async def knock() -> None:
        async with connection(credentials):
            pass

    try:
        asyncio.run(knock())
    except ConfigError as error:
        print(f"{error}; it will be tried again", file=sys.stderr)
    return 0


def run_leave(args: Namespace) -> int:
    from hookline.fleet.join import leave, require_joined

    paths = fleet_paths(args)
    joined = require_joined(paths)
    leave(joined, paths)
    print(f"this machine has left the fleet; the owner makes its credentials void: hookline fleet revoke {joined.credentials.name}")  # fmt: skip
    if os.path.lexists(paths.policy):
        print("its policy stays in force; to end that, too: sudo hookline policy remove")
    return 0


def print_local_status(args: Namespace) -> int:
    from hookline.config.managed import find_silence
    from hookline.core.files import modification_time
    from hookline.fleet.join import LOCK, link_runs, require_joined
    from hookline.fleet.parts import describe

    paths = fleet_paths(args)
    joined = require_joined(paths)
    state, found, runs = joined.state(), describe(paths, joined.folder), link_runs(joined)
    problems = [state["problem"]] if state.get("problem") else []
    if not runs:  # what it wrote last is no longer so
        start = (
            "hookline fleet link, as a service" if joined.folder.startswith(paths.machine) else "hookline daemon start"
        )
        state["connected"], problems = False, [f"nothing holds the connection; start it: {start}"]
    elif (frozen := time.time() - modification_time(os.path.join(joined.folder, LOCK))) > _FROZEN:
        again = f"the link has not moved for {frozen:.0f} seconds; start it again: systemctl restart hookline-fleet"
        state["connected"], problems = False, [again]
    if silence := find_silence(paths):
        problems.append(f"{silence.finding}{'' if silence.severity == 'warning' else ', so tool calls are refused'}")
    problems += [f"{part}: {text}" for part, text in state.get("problems", {}).items() if text]
    if args.json:
        print_json({"machine": joined.credentials.name, "group": joined.credentials.group, "connected": bool(state.get("connected")), **found, "problems": problems})  # fmt: skip
        return int(bool(problems or found["findings"]))
    version = f", version {found['policy']['version']}" if found["policy"] else ""
    print(
        f"{joined.credentials.name}: {'connected' if state.get('connected') else 'not connected'}; policy {found['state']}{version}"
    )
    for source, one in found["records"].items():
        print(f"  records of {source}: {one['sent']} sent, {one['dropped']} dropped")
    for text in (*found["findings"], *problems):
        print(f"{paint('wrong', 'red')}: {safe(text)}")
    return int(bool(problems or found["findings"]))


def run_feed(args: Namespace) -> int:
    from hookline.fleet.feed import serve

    serve(args.directory)
    return 0


def run_link(args: Namespace) -> int:
    from hookline.core.errors import StateError
    from hookline.fleet import link
    from hookline.fleet.join import require_joined

    paths = fleet_paths(args)
    joined = require_joined(paths)
    there = os.path.join(joined.folder, "machine.creds")

    def wanted() -> bool:
        return os.path.exists(there) and (not args.parent or os.getppid() == args.parent)

    if not args.parent:
        servers = ", ".join(joined.credentials.servers)
        print(f"{joined.credentials.name} holds the connection to {servers}; how it is: hookline fleet status --local", flush=True)  # fmt: skip
    if not link.run(joined, paths, wanted) and not args.parent:
        raise StateError(
            "another process holds this machine's link already; see: systemctl status hookline-fleet, or: hookline daemon status"
        )
    return 0
