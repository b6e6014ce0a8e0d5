"""Write what hooks decided as one HTML file to send to somebody: refused calls with their chains, and what hooks cost.

  hookline report --since 7d --html report.html

The file needs nothing else and runs no script. It is made of the record, so secrets are redacted in it; read it before
you send it.
"""

from __future__ import annotations

import os
from argparse import ArgumentParser, Namespace

from hookline.cli.commands.log import parse_time
from hookline.cli.output import is_recorded, require_readable
from hookline.core.errors import DataError, StateError
from hookline.core.paths import find_paths
from hookline.core.settings import RecordSettings
from hookline.state.record.store import store_in
from hookline.web.report import report


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="WHEN", default="7d", help="10m, 2h, 7d (default), yesterday, or a time like 2026-03-01"
    )
    parser.add_argument("--html", metavar="FILE", required=True, help="the file to write")


def run(args: Namespace) -> int:
    since = parse_time(args.since)
    assert since is not None
    store = store_in(find_paths(os.environ, os.environ.get("HOME") or os.path.expanduser("~")).state, RecordSettings())
    try:
        if not is_recorded(store):
            raise DataError("nothing is recorded yet; try: hookline demo")
        text = report(store, since)
    finally:
        store.close()
    require_readable(store)
    try:
        with open(args.html, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise StateError(f"{args.html} cannot be written: {error.strerror}") from error
    print(f"Wrote {args.html}")
    return 0
