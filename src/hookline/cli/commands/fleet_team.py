"""``hookline fleet publish``, ``status`` and ``sink``: for all machines of a team, over its broker."""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from argparse import Namespace
from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from hookline.cli.commands.fleet_machine import Add, add_root, print_local_status
from hookline.cli.commands.fleet_owner import add_owner
from hookline.cli.options import add_json
from hookline.cli.output import paint, plural, print_json, safe, table
from hookline.core.errors import ConfigError, UsageError
from hookline.core.paths import find_paths
from hookline.fleet import authority as authorities

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from hookline.fleet.overview import Seen

_T = TypeVar("_T")


#: Machines that are named in one line of the status.
_NAMED = 4


def configure_team(add: Add) -> None:
    one = add("publish", description="Give a group of machines a policy, all at once or some first.")
    one.add_argument(
        "file", metavar="FILE", nargs="?", default="", help="the policy; without one, --percent of the last"
    )
    one.add_argument("--group", default="all", help="whose machines (default: all)")
    one.add_argument("--percent", type=int, default=100, help="to how many percent of them (default: 100)")
    one.add_argument("--rollback", action="store_true", help="publish the previous policy again, as a new version")
    one.add_argument("--sign", metavar="KEY", default="", help="the private key of the owner, for --rollback")
    add_owner(one)
    one = add("status", description="Show every machine: its policy, what drifted, what is broken.")
    one.add_argument("--local", action="store_true", help="this machine alone, without asking the broker")
    add_owner(one)
    add_root(one)
    add_json(one)
    one = add("sink", description="Write the records of a team to files, a database or standard output.")
    one.add_argument("--to", nargs="+", required=True, metavar="TARGET", help="parquet DIR, postgres DSN, or stdout")
    one.add_argument("--name", default="", help="sinks of one name share the records (default: the kind of target)")
    one.add_argument("--credentials", metavar="CREDS", default="", help="from hookline fleet add NAME --role sink")
    add_owner(one)


def _admin(args: Namespace, work: Callable[[JetStreamContext, int], Awaitable[_T]]) -> _T:
    """Do something as the team's owner, whose streams are made where they are missing."""
    import asyncio

    from hookline.fleet.connection import connection
    from hookline.fleet.streams import ensure_team

    authority = authorities.load(args.fleet)

    async def connect() -> _T:
        async with connection(authorities.admin_credentials(authority, authority.team(args.team))) as client:
            stream = client.jetstream()
            await ensure_team(stream, authority.replicas)
            return await work(stream, authority.replicas)

    try:
        return asyncio.run(connect())
    except ConfigError as error:
        down = _servers_down(authority)
        raise ConfigError(
            f"{error}\n{down or 'its servers answer; if it stays so, their logs say what they wait for'}"
        ) from None


def _servers_down(authority: authorities.Authority) -> str:
    """What to do about them; "" if all are there."""
    import asyncio

    from hookline.fleet.connection import silent_servers

    servers = authority.servers
    down = asyncio.run(silent_servers(servers))
    there = ", ".join(f"{one} (there: nats-server -c nats-{servers.index(one) + 1}.conf)" for one in down)
    return f"{len(down)} of {plural(len(servers), 'server')} of the broker {'does' if len(down) == 1 else 'do'} not answer: {there}" if down else ""  # fmt: skip


def run_publish(args: Namespace) -> int:
    from hookline.fleet import policies
    from hookline.fleet.streams import ensure_group
    from hookline.fleet.subjects import require_name

    if not 0 <= args.percent <= 100:
        raise UsageError("--percent is a number from 0 to 100")
    if args.rollback and not args.sign:
        raise UsageError("what counted before is signed anew, with a higher version: --rollback --sign owner.key")
    require_name(args.group, "group")
    paths, data = find_paths(os.environ), b""
    if args.file:
        try:
            with open(args.file, "rb") as file:
                data = file.read()
        except OSError as error:
            raise ConfigError(f"{args.file} cannot be read: {error.strerror}") from None

    async def work(stream: JetStreamContext, replicas: int) -> policies.Rollout:
        await ensure_group(stream, args.group, replicas)
        if args.rollback:
            return await policies.roll_back(stream, args.group, args.sign, paths)
        if data:
            return await policies.publish(stream, args.group, data, args.percent)
        return await policies.widen(stream, args.group, args.percent)

    rollout = _admin(args, work)
    if rollout.next is not None:
        print(
            f"{args.group}: version {rollout.next.version} of {safe(rollout.next.name)} for {rollout.percent} % of the machines"
        )
    elif rollout.stable is not None:
        print(f"{args.group}: version {rollout.stable.version} of {safe(rollout.stable.name)} for all machines")
    return 0


def run_status(args: Namespace) -> int:
    if args.local:
        return print_local_status(args)
    from hookline.fleet import overview, policies

    authority = authorities.load(args.fleet)
    team = authority.team(args.team)
    members = [one for one in authority.members if one.team == team and one.role == "machine"]

    async def work(stream: JetStreamContext, _: int) -> list[overview.Seen]:
        found, rollouts = await overview.reports(stream), dict[str, policies.Rollout | None]()
        for group in {one.group for one in members}:
            rollouts[group] = await policies.read_rollout(stream, group)
        alive = [one for one in members if not one.revoked]
        return [
            overview.judge(one.name, one.group, found.get(one.name), rollouts[one.group], time.time()) for one in alive
        ]

    machines = _admin(args, work)
    down = _servers_down(authority)
    if args.json:
        rows = [{name: getattr(one, name) for name in one.__slots__} for one in machines]
        print_json({"team": team, "machines": rows, "revoked": [one.name for one in members if one.revoked], "broker": down})  # fmt: skip
    else:
        print_machines(machines, down)
    return int(bool(down) or any(one.state in {"broken", "drifted"} for one in machines))


def print_machines(machines: Sequence[Seen], down: str) -> None:
    """One screen: the groups, then what needs somebody, the worst first, with the machines that it is about."""
    from hookline.fleet import overview

    rows = [(one, str(count), *rest) for one, count, *rest in overview.summary(machines)]
    print(table(("GROUP", "MACHINES", "STATE", "POLICY"), rows) if rows else "no machine yet: hookline fleet add NAME")
    if down:
        print(f"{paint('broken', 'red')}  {down}")
    worst = ("broken", "drifted", "silent", "behind", "none", "never")
    about: dict[tuple[str, str], list[str]] = {}
    for one in sorted(machines, key=lambda one: _rank(worst, one.state)):
        if one.state != "in force" or one.why:
            for why in one.why.split("\n"):
                about.setdefault((one.state, why), []).append(one.name)
    width, lines = shutil.get_terminal_size()
    left = max(5, lines - 4 - len(rows))
    for at, ((state, why), names) in enumerate(about.items()):
        some = ", ".join(names[:_NAMED]) + (f" and {len(names) - _NAMED} more" if len(names) > _NAMED else "")
        text = textwrap.wrap(f"{state}  {some}: {safe(why)}".rstrip(": "), width, subsequent_indent="  ") or [state]
        if len(text) > left:
            print(f"and {len(about) - at} more: hookline fleet status --json")
            break
        left -= len(text)
        print("\n".join(text).replace(state, paint(state, "red" if state in worst[:2] else "yellow"), 1))


def _rank(worst: Sequence[str], state: str) -> int:
    return worst.index(state) if state in worst else len(worst)


def run_sink(args: Namespace) -> int:
    import asyncio
    import signal

    from hookline.fleet.connection import close, connect
    from hookline.fleet.credentials import read_credentials
    from hookline.fleet.sink import consume, open_target
    from hookline.fleet.subjects import require_name

    kind, *rest = args.to
    if kind not in {"parquet", "postgres", "stdout"} or len(rest) != (kind != "stdout"):
        raise UsageError("name a target: --to parquet DIR, --to postgres DSN or --to stdout")
    name = require_name(args.name or kind, "sink")
    authority = None if args.credentials else authorities.load(args.fleet)
    credentials = authorities.admin_credentials(authority, authority.team(args.team)) if authority else read_credentials(args.credentials)  # fmt: skip
    if credentials.role == "machine":
        raise ConfigError(
            f"{args.credentials} is for a machine, which reads no records; hookline fleet add NAME --role sink"
        )
    target, stopped = open_target(kind, *rest or [""]), list[int]()

    async def work() -> int:
        for one in (signal.SIGTERM, signal.SIGINT):
            asyncio.get_running_loop().add_signal_handler(one, lambda: stopped.append(1))
        client = await connect(credentials, stay=True)
        try:
            return await consume(
                client, name, target, lambda: not stopped, lambda text: print(text, file=sys.stderr, flush=True)
            )
        finally:
            await close(client)

    written = asyncio.run(work())
    print(f"{plural(written, 'record')} written", file=sys.stderr)
    return 0
