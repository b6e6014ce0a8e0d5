"""The resident engine: start it, end it, look at it.

  hookline daemon start              in the background; agents' clients do this by themselves on first use
  hookline daemon status --json
  hookline daemon stop               finishes what it does, then ends; one that does not answer is killed
  hookline daemon run                stay in the foreground (for systemd and launchd)
  hookline daemon build-client       compile the native client and say where it is

HOOKLINE_DAEMON=off keeps every client from using it, HOOKLINE_DAEMON="if running" from starting it.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.cli.output import plural, print_json
from hookline.cli.parser import add_json
from hookline.core.errors import StateError, UsageError
from hookline.daemon import lifecycle
from hookline.daemon.socket_path import find_daemon_paths

if TYPE_CHECKING:
    from argparse import ArgumentParser, Namespace

    from hookline.daemon.socket_path import DaemonPaths

#: What it took.
_ENDS = {
    "not running": "not running",
    "asked": "ended",
    "terminated": "ended by SIGTERM, since it did not answer (process {pid}); its records are kept",
    "killed": "ended by SIGKILL, since it did not answer (process {pid}); its records are kept",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act", metavar="run|start|stop|status|build-client", choices=("run", "start", "stop", "status", "build-client")
    )
    parser.add_argument(
        "--idle", metavar="SECONDS", type=float, help="end after so long without a request (3600); 0: never"
    )
    parser.add_argument("--background", action="store_true", help="with run: keep a log instead of a terminal")
    add_json(parser)


def run(args: Namespace) -> int:
    if args.idle is not None and not 0 <= args.idle < float("inf"):
        raise UsageError("--idle takes seconds from 0, which is never")
    place = find_daemon_paths(os.environ)
    match args.act:
        case "run":
            if not lifecycle.run(place, idle=args.idle, background=args.background):
                raise StateError("another daemon is running; see: hookline daemon status")
        case "start":
            if not lifecycle.start(place, os.environ, idle=args.idle):
                silent = "a daemon is there and does not answer; end it: hookline daemon stop"
                raise StateError(silent if lifecycle.is_held(place) else f"the daemon did not start; see {place.log}")
            _status(as_json=args.json)
        case "stop":
            _stop(place, as_json=args.json)
        case "build-client":
            from hookline.daemon.client.build import build_client  # only who builds needs it

            print(build_client(os.environ))
        case _:
            return _status(as_json=args.json)
    return 0


def _stop(place: DaemonPaths, *, as_json: bool) -> None:
    from hookline.daemon.lifecycle import stop  # only who ends one needs it

    how, pid = stop(place)
    if how == "alive":
        which = f"process {pid}" if pid else "nobody knows which process it is"
        raise StateError(f"the daemon does not answer and could not be ended ({which}); see: hookline daemon status")
    if as_json:
        print_json({**lifecycle.status(place), "ended": how})
    else:
        print(_ENDS[how].format(pid=pid))


def _status(*, as_json: bool) -> int:
    found = lifecycle.status(find_daemon_paths(os.environ))
    if as_json:
        print_json(found)
    elif not found["running"]:
        print("not running" + (", but something holds its lock" if found["silent"] else ""))
    else:
        print(
            f"running: pid {found['pid']}, version {found['version']}, {plural(found['requests'], 'request')},"
            f" {plural(found['engines'], 'engine')}, {found['resident_kb'] // 1024} MB, {plural(found['reloads'], 'reload')}"
        )
        for crash in found["crashes"]:
            print(f"  crash: {crash}", file=sys.stderr)
    return 0 if found["running"] else 1
