"""Write what hooks decided as one HTML file to send to somebody: refused calls with their chains, and what hooks cost.

  hookline report --since 7d --html report.html

The file needs nothing else and runs no script. It is made of the record, so secrets are redacted in it; read it before
you send it.
"""

from __future__ import annotations

from argparse import ArgumentParser, Namespace

from hookline.cli.commands.log import parse_time
from hookline.cli.record import open_record
from hookline.core.errors import StateError
from hookline.web.report import report


def configure(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--since", metavar="WHEN", default="7d", help="10m, 2h, 7d (default), yesterday, or a time like 2026-03-01"
    )
    parser.add_argument("--html", metavar="FILE", required=True, help="the file to write")


def run(args: Namespace) -> int:
    since = parse_time(args.since)
    assert since is not None
    with open_record() as store:
        text = report(store, since)
    try:
        with open(args.html, "w", encoding="utf-8", errors="backslashreplace") as file:
            file.write(text)
    except OSError as error:
        raise StateError(f"{args.html} cannot be written: {error.strerror}") from error
    print(f"Wrote {args.html}")
    return 0
