"""Runs the suite under coverage, with every program that it starts, and prints what was reached of each package.

usage: python tools/cover.py [ARGUMENTS OF PYTEST]

Most tests run ``hookline`` as a program, in an environment of its own: a variable would not reach it. So while the
suite runs, a ``.pth`` file in the virtual environment has every Python of it measured (``cover_start.py``). What is
lost is what was killed, what runs without site-packages, and the watchdog's thread.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
import sysconfig
from collections import defaultdict
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import coverage.tracer

if TYPE_CHECKING:
    from collections.abc import Sequence

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src"
DATA = ROOT / "build" / "coverage"
START = Path(sysconfig.get_path("purelib"), "hookline_cover_start.py")
MASK = (1 << 28) - 1


def main(words: Sequence[str]) -> int:
    shutil.rmtree(DATA, ignore_errors=True)
    DATA.mkdir(parents=True)
    program = Path(__file__).with_name("cover_start.py").read_text(encoding="utf-8")
    for name, value in {"@TRACER@": coverage.tracer.__file__, "@SOURCE@": f"{SOURCE}/", "@DATA@": DATA}.items():
        program = program.replace(name, str(value))
    START.write_text(program, encoding="utf-8")
    START.with_suffix(".pth").write_text(f"import {START.stem}\n", encoding="utf-8")
    try:
        command = [sys.executable, "-m", "pytest", "-p", START.stem, "-n", "2", *words]
        code = subprocess.run(command, cwd=ROOT, check=False).returncode
    finally:
        START.with_suffix(".pth").unlink()
        START.unlink()
    enough = report()  # also where a test failed: fifteen minutes are not to be lost
    return code or int(not enough and not words)


def report() -> bool:
    """Print what was reached of each package and of all; whether that is enough, which a part of the suite need not be."""
    total = coverage.Coverage(config_file=ROOT / "pyproject.toml", data_file=DATA / "data")
    data = total.get_data()
    data.erase()
    data.add_arcs(pairs_seen())
    data.touch_files([str(path) for path in SOURCE.rglob("*.py")])  # what no test has imported counts as well
    with (DATA / "files.txt").open("w", encoding="utf-8") as file:
        total.report(file=file)
    total.json_report(outfile=str(DATA / "report.json"))
    found = json.loads((DATA / "report.json").read_text(encoding="utf-8"))
    for package, summaries in sorted(by_package(found["files"]).items()):
        print(line_of(package, summaries))
    print(line_of("all of src, with branches", [found["totals"]]))
    least = cast("float", total.get_option("report:fail_under"))
    enough = found["totals"]["percent_covered"] >= least
    print(f"{'at least' if enough else 'less than'} {least:g} %; file by file: {DATA / 'files.txt'}")
    return enough


def by_package(files: dict[str, Any]) -> dict[str, list[Any]]:
    """The summaries of the files of each package directly below ``hookline``; modules beside them stand together."""
    packages: defaultdict[str, list[Any]] = defaultdict(list)
    for name, file in files.items():
        parts = Path(ROOT, name).relative_to(SOURCE).parts
        packages["/".join(parts[: min(2, len(parts) - 1)])].append(file["summary"])
    return packages


def line_of(name: str, summaries: Sequence[Any]) -> str:
    parts = sum(one["num_statements"] + one["num_branches"] for one in summaries)
    reached = sum(one["covered_lines"] + one["covered_branches"] for one in summaries)
    return f"{name:<28}{parts:>7}{100 * reached / parts if parts else 100:>7.1f} %"


def pairs_seen() -> dict[str, list[tuple[int, int]]]:
    """Of all processes together: which line came after which, as coverage unpacks them."""
    packed: defaultdict[str, set[int]] = defaultdict(set)
    for line in lines_seen():
        path, _, pairs = line.partition("\t")
        packed[path].update(map(int, pairs.split()))
    return {path: [unpacked(pair) for pair in pairs] for path, pairs in packed.items()}


def lines_seen() -> set[str]:
    """Most programs take ways that others have taken before, so that few lines are left of gigabytes."""
    lines: set[str] = set()
    for file in DATA.glob("*.seen"):
        lines.update(file.read_text(encoding="utf-8").splitlines())
    return lines


def unpacked(pair: int) -> tuple[int, int]:
    first, second = pair & MASK, pair >> 28 & MASK
    return (-first if pair & 1 << 56 else first), (-second if pair & 1 << 57 else second)


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
