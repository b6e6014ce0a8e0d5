"""Start, stop or inspect the resident engine.

  hookline daemon start              start in the background; clients of agents do this on first use
  hookline daemon status --json
  hookline daemon stop               finish current work, then exit; a daemon that does not answer is killed
  hookline daemon run                stay in the foreground (for systemd and launchd)
  hookline daemon build-client       compile the native client and print its path

With HOOKLINE_DAEMON=off no client uses it; with HOOKLINE_DAEMON="if running" no client starts it.
"""

from __future__ import annotations

import json
import os
import sys
from argparse import SUPPRESS, ArgumentParser, Namespace

from hookline.cli.options import add_json
from hookline.cli.output import plural, print_json
from hookline.core.errors import StateError, UsageError
from hookline.core.extras import install_command
from hookline.core.settings import TelemetrySettings
from hookline.daemon import lifecycle
from hookline.daemon.protocol import DaemonPaths, find_daemon_paths

_ENDS = {
    "not running": "not running",
    "asked": "stopped",
    "terminated": "stopped by SIGTERM, because it did not answer (process {pid}); its records are kept",
    "killed": "stopped by SIGKILL, because it did not answer (process {pid}); its records are kept",
}


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "act",
        metavar="run|start|stop|status|build-client",
        choices=("run", "start", "stop", "status", "build-client", "export"),
    )
    parser.add_argument(
        "--idle", metavar="SECONDS", type=float, help="stop after this long without a request (default 3600); 0: never"
    )
    parser.add_argument("--background", action="store_true", help="with run: write to the log instead of the terminal")
    parser.add_argument("--directory", metavar="DIR", default="", help="with run: where its socket and its files are")
    parser.add_argument("--parent", metavar="PID", type=int, default=0, help=SUPPRESS)
    add_json(parser)


def run(args: Namespace) -> int:
    if args.idle is not None and not 0 <= args.idle < float("inf"):
        raise UsageError("--idle must be 0 (never) or more seconds")
    place = DaemonPaths(directory=os.path.abspath(args.directory)) if args.directory else find_daemon_paths(os.environ)
    match args.act:
        case "run":
            if not lifecycle.run(place, idle=args.idle, background=args.background):
                raise StateError("another daemon is running; see: hookline daemon status")
        case "start":
            if not lifecycle.start(place, os.environ, idle=args.idle):
                silent = "a daemon is running but does not answer; stop it with: hookline daemon stop"
                raise StateError(silent if lifecycle.is_held(place) else f"the daemon did not start; see {place.log}")
            _status(as_json=args.json)
        case "stop":
            _stop(place, as_json=args.json)
        case "export":  # the daemon starts this where [telemetry] names an endpoint
            _export(place.directory, args.parent)
        case "build-client":
            from hookline.daemon.client.build import build_client  # only this needs it

            print(build_client(os.environ))
        case _:
            return _status(as_json=args.json)
    return 0


def _export(state: str, parent: int) -> None:
    try:
        from hookline.daemon.exporter import run  # the SDK
    except ImportError as error:
        raise UsageError(f"telemetry needs {error.name}: {install_command('telemetry')}") from error
    given = json.load(sys.stdin)
    headers = tuple((name, value) for name, value in given.pop("headers", ()))
    since = given.pop("since", None)
    run(state, TelemetrySettings(headers=headers, **given), parent, since)


def _stop(place: DaemonPaths, *, as_json: bool) -> None:
    from hookline.daemon.lifecycle import stop  # only this needs it

    how, pid = stop(place)
    if how == "alive":
        which = f"process {pid}" if pid else "its process is unknown"
        raise StateError(f"the daemon does not answer and could not be stopped ({which}); see: hookline daemon status")
    if as_json:
        print_json({**lifecycle.status(place), "ended": how})
    else:
        print(_ENDS[how].format(pid=pid))


def _status(*, as_json: bool) -> int:
    found = lifecycle.status(find_daemon_paths(os.environ))
    if as_json:
        print_json(found)
    elif not found["running"]:
        print("not running" + (", but another process holds its lock" if found["silent"] else ""))
    else:
        print(
            f"running: pid {found['pid']}, version {found['version']}, {plural(found['requests'], 'request')},"
            f" {plural(found['engines'], 'engine')}, {found['resident_kb'] // 1024} MB, {plural(found['reloads'], 'reload')}"
        )
        for crash in found["crashes"]:
            print(f"  crash: {crash}", file=sys.stderr)
    return 0 if found["running"] else 1
