"""See every hook decide, live, in a browser, and answer from there.

  hookline web                  opens the browser, or prints the address; the address works once
  hookline web --read-only      nothing can be changed or answered
  hookline web --metrics        numbers for Prometheus at /metrics
  hookline web --fleet          and the questions and records of all machines of a fleet, for whoever is on call
  hookline web --fleet DIR      the records from the folder of a sink: hookline fleet sink --to parquet DIR

It listens on 127.0.0.1 only. Whoever wants to approve, switch off, replay or answer types the code that this terminal
shows, once in each browser. It does not start below an agent, and does not answer a process that an agent started.
"""

from __future__ import annotations

import os
import time
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import closing
from types import SimpleNamespace
from typing import Any

from hookline.cli.capabilities import ability
from hookline.cli.commands.fleet_inbox import default_credentials
from hookline.cli.commands.replay import replay_one
from hookline.cli.loading import look, missing_registrations
from hookline.core.agents import find_agent, select_agents
from hookline.core.errors import ConfigError, DataError
from hookline.core.event import EVENTS
from hookline.core.extras import extra_needed
from hookline.core.paths import Paths, find_paths, home_directory, private_dir
from hookline.core.settings import RecordSettings
from hookline.doctor.missed import find_missed_gates
from hookline.state import own_guards
from hookline.state.inbox import FOLDER
from hookline.state.protection import is_protected
from hookline.state.record.query import find, load_runs
from hookline.state.record.store import store_in

_WEEK = 7 * 86_400


def configure(parser: ArgumentParser) -> None:
    parser.add_argument("--read-only", action="store_true", help="nothing can be changed or answered")
    parser.add_argument("--port", metavar="N", type=int, default=None, help="the port; 0 for any that is free")
    parser.add_argument("--no-browser", action="store_true", help="only print the address")
    parser.add_argument("--metrics", action="store_true", help="numbers for Prometheus at /metrics")
    parser.add_argument(
        "--fleet",
        metavar="DIR",
        nargs="?",
        const="",
        default=None,
        help="all machines too; DIR: a parquet sink's folder",
    )
    parser.add_argument(
        "--credentials",
        metavar="CREDS",
        default="",
        help="credentials of whoever is on call, for --fleet (default: fleet/oncall.creds beside your configuration)",
    )


def run(args: Namespace) -> int:
    with extra_needed("web", "anyio", "starlette", "uvicorn"):
        from hookline.web.serve import serve

    home = home_directory(os.environ)
    paths = find_paths(os.environ, home)
    serve(
        paths, _services(paths, home, _fleet(args, paths)), port=args.port, read_only=args.read_only, browse=not args.no_browser,
        with_metrics=args.metrics, say=lambda text: print(text, flush=True),
    )  # fmt: skip
    return 0


def _fleet(args: Namespace, paths: Paths) -> Any:
    if args.fleet is None:
        return None
    with extra_needed("fleet", "cryptography", "nats", "nkeys"):
        from hookline.fleet.oncall import oncall_credentials
        from hookline.fleet.view import FleetView

    if args.fleet and not os.path.isdir(args.fleet):
        raise ConfigError(f"{args.fleet} is not a folder; to write one: hookline fleet sink --to parquet {args.fleet}")
    path = args.credentials or default_credentials(paths)
    known = oncall_credentials(path) if args.credentials or not args.fleet or os.path.exists(path) else None
    watched = private_dir(os.path.join(paths.state, FOLDER))  # pages look again when it is touched
    return FleetView(args.fleet, known, paths.state, lambda: os.utime(watched))


def _services(paths: Paths, home: str, fleet: Any = None) -> Any:
    from hookline.web.app import Services

    def replay(name: str, agent: str) -> dict[str, Any]:
        with closing(store_in(paths.state, RecordSettings())) as store:
            found = find(store, name)
            if len(found) != 1:
                raise DataError("no recorded event has this id")
            runs = load_runs(store, [found[0].number])[found[0].number]
        target = select_agents([agent])[0] if agent else None
        options = SimpleNamespace(dry_run=False, json=True, dialect=None, config=[])
        return replay_one(found[0], runs, target, options)

    def able(agent: str, event: str, data: Mapping[str, Any]) -> dict[str, Any] | None:
        row = find_agent(agent)
        if row is None or event not in EVENTS:
            return None
        one = ability(row.name, event, data)
        return {**one.to_json(), "losses": list(one.losses())}

    def missed() -> list[str]:
        with closing(store_in(paths.state, RecordSettings())) as store:
            return [str(one) for one in find_missed_gates(store, time.time() - _WEEK, home, os.environ)]

    def deployments() -> list[str]:
        lost = own_guards.find_lost(paths.state) if is_protected(paths.state) else ""
        found = [f"{lost} is gone or damaged; in a terminal of your own: hookline deploy"] if lost else []
        return [*found, *map(str, missing_registrations(look()))] if is_protected(paths.state) else []

    return Services(replay=replay, able=able, missed=missed, deployments=deployments, fleet=fleet)
