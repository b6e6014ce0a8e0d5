"""The speed that is promised, as ratios of medians that are measured in one run: ``make bench``.

Nothing here fails because a machine is slow: the table says ✓ or ✗, and a person judges.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from typing import TYPE_CHECKING

import guard
import guests
import in_process
import keeping
import knowledge
import notes
import plugins
from measure import Row, machine, wait_until_quiet

import approval
import daemon
import processes
import shell

if TYPE_CHECKING:
    from collections.abc import Iterator


MANUAL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "explanation", "speed.md")
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


def rows(folder: str, short: bool) -> Iterator[Row]:
    yield from in_process.fire(short)
    yield from in_process.match(short)
    yield from in_process.memory(short)
    yield from processes.command(folder, short)
    yield from processes.parallel(folder, short)
    yield from plugins.round_trip(folder, short)
    yield from keeping.record(folder, short)
    yield from keeping.redaction(short)
    yield from keeping.imports()
    yield from approval.rows(folder, short)
    yield from daemon.rows(folder, short)
    yield from shell.command(folder, short)
    yield from shell.key(short)
    yield from knowledge.rows(folder, short)
    yield from guests.rows(folder, short)
    yield from guard.rows(short)
    yield from notes.rows(folder, short)


def line(row: Row) -> str:
    mark = "✓" if row.holds else "✗"
    value = f"{row.value:.2f}{row.unit}" if row.unit == "x" else f"{row.value:.4g} {row.unit}".strip()
    aim = f" (aim {row.aim:g})" if row.aim is not None else ""
    return f"{mark} {row.what:<66} {row.shown:>24}  {value:>10}   at most {row.target:g}{aim}"


def _documented(table: str, judged: list[Row], rest: str) -> None:
    """The manual shows what was measured last, where, and what of it keeps its promise."""
    with open(table, encoding="utf-8") as file:
        measured = file.read()
    promised = "".join(
        f"| {row.what} | {row.shown} | {row.value:.2f} {row.unit} | {row.target:g} | {'yes' if row.holds else '**no**'} |\n"
        for row in judged
    )
    text = (
        f"{BEGIN}\nMeasured on {machine()}, {rest}, in one run, recording included:\n\n{measured}\n"
        f"| what is promised | measured | value | at most | holds |\n|---|---|---|---|---|\n{promised}{END}"
    )
    with open(MANUAL, encoding="utf-8") as file:
        before, _, others = file.read().partition(BEGIN)
    with open(MANUAL, "w", encoding="utf-8") as file:
        file.write(before + text + others.partition(END)[2])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--short", action="store_true", help="a few rounds of everything: does it run at all?")
    options.add_argument("--docs", action="store_true", help=f"put the table into {MANUAL}")
    wishes = options.parse_args()
    short = wishes.short
    rest = "short run" if short else wait_until_quiet()
    print(f"{machine()}; {rest}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as folder:
        missed, judged = 0, []
        for row in rows(folder, short):
            print(line(row), flush=True)
            missed += not row.holds
            judged.append(row)
        if wishes.docs:
            _documented(os.path.join(folder, daemon.TABLE), judged, rest)
    print(f"{missed} of the targets missed" if missed else "all targets met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
