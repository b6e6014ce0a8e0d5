"""The speed that is promised, as ratios of medians that are measured in one run: ``make bench``.

Nothing here fails because a machine is slow: the table says ✓ or ✗, and a person judges.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable, Iterator
from itertools import chain
from time import strftime

import cold
import guard
import guests
import in_process
import keeping
import knowledge
import notes
import plugins
import recall
import run
from measure import Row, machine, wait_until_quiet

import approval
import daemon
import packs
import processes
import shell

MANUAL = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "docs", "explanation", "speed.md")
BEGIN, END = "<!-- measured -->", "<!-- /measured -->"


Rows = Callable[[str, bool], Iterator[Row]]
#: What can be measured by itself, in the order of a whole run.
GROUPS: dict[str, Rows] = {
    "in-process": lambda _folder, short: chain(
        in_process.fire(short), in_process.match(short), in_process.memory(short)
    ),
    "processes": lambda folder, short: chain(processes.command(folder, short), processes.parallel(folder, short)),
    "plugins": plugins.round_trip,
    "keeping": lambda folder, short: chain(
        keeping.record(folder, short), keeping.filters(folder, short), keeping.redaction(short), keeping.imports()
    ),
    "approval": approval.rows,
    "cold": cold.rows,
    "daemon": daemon.rows,
    "shell": lambda folder, short: chain(shell.command(folder, short), shell.key(short)),
    "knowledge": knowledge.rows,
    "guests": guests.rows,
    "guard": lambda _folder, short: guard.rows(short),
    "notes": notes.rows,
    "recall": recall.rows,
    "packs": packs.rows,
    "run": run.rows,
}
#: And what is not part of a whole run, because its rows are in one of the others: what trust costs an agent.
PARTS: dict[str, Rows] = {
    "trust": lambda folder, short: chain(approval.rows(folder, short), daemon.lines(folder, short))
}


def rows(groups: list[str], folder: str, short: bool) -> Iterator[Row]:
    for name in groups or GROUPS:
        yield from (GROUPS | PARTS)[name](folder, short)


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
        f"{BEGIN}\nMeasured on {strftime('%Y-%m-%d')}, on {machine()}, {rest}, in one run, recording included:\n\n{measured}\n"
        f"| what is promised | measured | value | at most | holds |\n|---|---|---|---|---|\n{promised}{END}"
    )
    with open(MANUAL, encoding="utf-8") as file:
        before, _, others = file.read().partition(BEGIN)
    with open(MANUAL, "w", encoding="utf-8") as file:
        file.write(before + text + others.partition(END)[2])


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    known = ", ".join((*GROUPS, *PARTS))
    options.add_argument("groups", nargs="*", metavar="GROUP", help=f"only these: {known}")
    options.add_argument("--short", action="store_true", help="a few rounds of everything: does it run at all?")
    options.add_argument("--docs", action="store_true", help=f"put the table into {MANUAL}")
    wishes = options.parse_args()
    if unknown := [name for name in wishes.groups if name not in GROUPS | PARTS]:
        options.error(f"no such group: {', '.join(unknown)}; there are {known}")
    if wishes.docs and wishes.groups:
        options.error("--docs needs a whole run")
    short = wishes.short
    rest = "short run" if short else wait_until_quiet()
    print(f"{machine()}; {rest}", flush=True)
    with tempfile.TemporaryDirectory(prefix="hookline-bench-") as folder:
        missed, judged = 0, []
        for row in rows(wishes.groups, folder, short):
            print(line(row), flush=True)
            missed += not row.holds
            judged.append(row)
        if wishes.docs:
            _documented(os.path.join(folder, daemon.TABLE), judged, rest)
    print(f"{missed} of the targets missed" if missed else "all targets met")
    return 0


if __name__ == "__main__":
    sys.exit(main())
