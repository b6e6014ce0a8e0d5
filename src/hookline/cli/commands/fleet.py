"""Guard many machines by one policy, over a NATS broker of your own.

  hookline fleet init fleet/ --server nats.example.com:4222      keys and the broker's configuration; keep fleet/ to yourself
  hookline fleet add laptop-7 --group developers                 writes laptop-7.creds, all that this machine needs
  sudo hookline fleet join laptop-7.creds                        on the machine
  hookline fleet publish policy.hkp --group developers --percent 10
  hookline fleet publish --group developers --percent 100        the same policy, for all
  hookline fleet publish --group developers --rollback --sign owner.key
  hookline fleet status                                          every machine, on one screen
  hookline fleet sink --to postgres DSN --credentials sink.creds   or: --to parquet DIR, --to stdout
  hookline fleet revoke laptop-7                                 the broker refuses it from now on
  hookline fleet members
  hookline fleet inbox                                           questions of all machines, for whoever is on call
  hookline fleet inbox 3f9a --deny --reason "not at night"

join, leave and status --local are for a machine, sink for whoever collects records. All others work on the folder of the
fleet's owner: --fleet DIR, or fleet/ in the current directory.
"""

from __future__ import annotations

import os
import shutil
import sys
import textwrap
import time
from argparse import SUPPRESS, ArgumentParser, Namespace
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias, TypeVar

from hookline.cli.commands import fleet_inbox
from hookline.cli.options import add_json
from hookline.cli.output import paint, plural, print_json, safe, table
from hookline.core.errors import ConfigError, UsageError
from hookline.core.extras import extra_needed
from hookline.core.paths import Paths, find_paths
from hookline.fleet import authority as authorities
from hookline.fleet.subjects import ROLES

if TYPE_CHECKING:
    from nats.js import JetStreamContext

    from hookline.fleet.overview import Seen

_T = TypeVar("_T")
#: Machines that are named in one line of the status.
_NAMED = 4
#: Seconds after which a link that runs counts as frozen: it gives a sign every second.
_FROZEN = 30.0


#: Adds the parser of a verb.
_Add: TypeAlias = Callable[..., ArgumentParser]


def configure(parser: ArgumentParser) -> None:
    verbs = parser.add_subparsers(dest="verb", metavar="VERB", required=True)
    _configure_owner(verbs.add_parser)
    _configure_team(verbs.add_parser)
    _configure_machine(verbs.add_parser)
    fleet_inbox.configure(verbs.add_parser("inbox", description="Answer what hooks on other machines ask; for whoever is on call."))  # fmt: skip


def _configure_owner(add: _Add) -> None:
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
    _add_owner(one)
    one = add("revoke", description="Let the broker refuse a machine or a person from now on.")
    one.add_argument("name", metavar="NAME", help="of the machine, or of the person")
    _add_owner(one)
    one = add("members", description="Show who has credentials.")
    _add_owner(one)
    add_json(one)


def _configure_team(add: _Add) -> None:
    one = add("publish", description="Give a group of machines a policy, all at once or some first.")
    one.add_argument(
        "file", metavar="FILE", nargs="?", default="", help="the policy; without one, --percent of the last"
    )
    one.add_argument("--group", default="all", help="whose machines (default: all)")
    one.add_argument("--percent", type=int, default=100, help="to how many percent of them (default: 100)")
    one.add_argument("--rollback", action="store_true", help="publish the previous policy again, as a new version")
    one.add_argument("--sign", metavar="KEY", default="", help="the private key of the owner, for --rollback")
    _add_owner(one)
    one = add("status", description="Show every machine: its policy, what drifted, what is broken.")
    one.add_argument("--local", action="store_true", help="this machine alone, without asking the broker")
    _add_owner(one)
    _add_root(one)
    add_json(one)
    one = add("sink", description="Write the records of a team to files, a database or standard output.")
    one.add_argument("--to", nargs="+", required=True, metavar="TARGET", help="parquet DIR, postgres DSN, or stdout")
    one.add_argument("--name", default="", help="sinks of one name share the records (default: the kind of target)")
    one.add_argument("--credentials", metavar="CREDS", default="", help="from hookline fleet add NAME --role sink")
    _add_owner(one)


def _configure_machine(add: _Add) -> None:
    one = add("feed", description="Read an account's record for the link; root starts this.")
    one.add_argument("--directory", required=True, help=SUPPRESS)
    one = add("join", description="Make this machine part of a fleet; as root for the whole machine.")
    one.add_argument("credentials", metavar="CREDS", help="the file from hookline fleet add; delete it afterwards")
    one.add_argument(
        "--key", metavar="KEY.pub", default="", help="whose policies this machine accepts; needed only the first time"
    )
    _add_root(one)
    one = add("leave", description="Leave the fleet. The policy stays in force; to remove it: hookline policy remove.")
    _add_root(one)
    one = add("link", description="Hold the connection; the daemon and systemd start this.")
    one.add_argument("--parent", type=int, default=0, help=SUPPRESS)
    _add_root(one)


def _add_owner(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--fleet", metavar="DIR", default="fleet", help="the folder of the fleet's owner (default: fleet)"
    )
    parser.add_argument("--team", default="", help="which team, if there are several")


def _add_root(parser: ArgumentParser) -> None:
    parser.add_argument("--root", metavar="DIR", default="", help=SUPPRESS)


def run(args: Namespace) -> int:
    if args.verb in {"join", "link"}:
        os.umask(0o022)  # what the owner of a machine writes, everybody reads; secrets have a mode of their own
    with extra_needed("fleet", "cryptography", "nats", "nkeys"):
        return _VERBS[args.verb](args)


def _paths(args: Namespace) -> Paths:
    return find_paths(os.environ, root=args.root)


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
    then = {
        "machine": f"there: sudo hookline fleet join {path} --key owner.key.pub",
        "oncall": f"there: install -D -m 600 {path} ~/.config/hookline/fleet/oncall.creds",
        "sink": f"hookline fleet sink --to stdout --credentials {path}",
    }.get(args.role, "keep it where only they read it")
    print(f"{path}: {args.role} {args.name}, group {args.group}; {then}")
    return 0


def _revoke(args: Namespace) -> int:
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


def _members(args: Namespace) -> int:
    members = authorities.load(args.fleet).members
    rows = [{"name": one.name, "role": one.role, "team": one.team, "group": one.group, "revoked": bool(one.revoked)} for one in members]  # fmt: skip
    if args.json:
        print_json(rows)
    else:
        shown = [(safe(one.name), one.role, one.team, one.group, "revoked" if one.revoked else "") for one in members]
        print(table(("NAME", "ROLE", "TEAM", "GROUP", ""), shown))
    return 0


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


def _publish(args: Namespace) -> int:
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


def _status(args: Namespace) -> int:
    if args.local:
        return _local_status(args)
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
        _print_machines(machines, down)
    return int(bool(down) or any(one.state in {"broken", "drifted"} for one in machines))


def _print_machines(machines: Sequence[Seen], down: str) -> None:
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


def _sink(args: Namespace) -> int:
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


# ── a machine ────────────────────────────────────────────────────────────────────────────────────────


def _join(args: Namespace) -> int:
    import asyncio

    from hookline.fleet.connection import connection
    from hookline.fleet.install import PolicyFolder
    from hookline.fleet.join import join, link_runs
    from hookline.fleet.keys import read_public_key

    paths = _paths(args)
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


def _leave(args: Namespace) -> int:
    from hookline.fleet.join import leave, require_joined

    paths = _paths(args)
    joined = require_joined(paths)
    leave(joined, paths)
    print(f"this machine has left the fleet; the owner makes its credentials void: hookline fleet revoke {joined.credentials.name}")  # fmt: skip
    if os.path.lexists(paths.policy):
        print("its policy stays in force; to end that, too: sudo hookline policy remove")
    return 0


def _local_status(args: Namespace) -> int:
    from hookline.config.managed import find_silence
    from hookline.core.files import modification_time
    from hookline.fleet.join import LOCK, link_runs, require_joined
    from hookline.fleet.parts import describe

    paths = _paths(args)
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


def _feed(args: Namespace) -> int:
    from hookline.fleet.feed import serve

    serve(args.directory)
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

    if not args.parent:
        servers = ", ".join(joined.credentials.servers)
        print(f"{joined.credentials.name} holds the connection to {servers}; how it is: hookline fleet status --local", flush=True)  # fmt: skip
    if not link.run(joined, paths, wanted) and not args.parent:
        raise StateError(
            "another process holds this machine's link already; see: systemctl status hookline-fleet, or: hookline daemon status"
        )
    return 0


_VERBS: Mapping[str, Callable[[Namespace], int]] = {
    "init": _init, "add": _add, "revoke": _revoke, "members": _members, "publish": _publish, "status": _status, "sink": _sink,
    "join": _join, "leave": _leave, "link": _link, "feed": _feed, "inbox": lambda args: fleet_inbox.run(args, _paths(args)),
}  # fmt: skip
