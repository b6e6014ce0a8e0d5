"""The speed that is promised, as ratios of medians that are measured in one run: ``make bench``.

Nothing here fails because a machine is slow: the table says ✓ or ✗, and a person judges.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from typing import TYPE_CHECKING

import guests
import in_process
import keeping
import knowledge
import notes
import plugins
from measure import Row, machine, wait_until_quiet

import daemon
import processes
import shell

if TYPE_CHECKING:
    from collections.abc import Iterator


def rows(folder: str, short: bool) -> Iterator[Row]:
    yield from in_process.fire(short)
    yield from in_process.match(short)
    yield from in_process.memory(short)
    yield from processes.command(folder, short)
    yield from processes.parallel(folder, short)
    yield from plugins.round_trip(folder, short)
    yield from keeping.record(folder, short)
    yield from keeping.imports()
    yield from daemon.rows(folder, short)
    yield from shell.command(folder, short)
    yield from shell.key(short)
    yield from knowledge.rows(folder, short)
    yield from guests.rows(folder, short)
    yield from notes.rows(folder, short)


def line(row: Row) -> str:
    mark = "✓" if row.holds else "✗"
    value = f"{row.value:.2f}{row.unit}" if row.unit == "x" else f"{row.value:.4g} {row.unit}".strip()
    aim = f" (aim {row.aim:g})" if row.aim is not None else ""
    return f"{mark} {row.what:<66} {row.shown:>24}  {value:>10}   at most {row.target:g}{aim}"


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true", help="a few rounds of everything: does it run at all?")
    short = options.parse_args().short
    print(f"{machine()}; {'short run' if short else wait_until_quiet()}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as folder:
        missed = 0
        for row in rows(folder, short):
            print(line(row), flush=True)
            missed += not row.holds
    print(f"{missed} of the targets missed" if missed else "all targets met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
