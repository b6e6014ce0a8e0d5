"""Our own cases, as tables: what each command does, and what the policies answer.

``cases/*.txt``: a heading ``= STANDARD STRICT`` (``-`` is no opinion), then ``kind: command`` a line, where the kind is
an effect that must be among those found, and ``-`` means that none is worse than low. In ``reads.txt`` the headings
are ``= grant`` and ``= refuse``. ``⏎`` stands for a line break.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.guard.policy import Policy
from hookline.guard.verdict import Surroundings, judge

CASES = Path(__file__).parent / "cases"
AROUND = Surroundings(
    cwd="/work/app", home="/home/me", environment={"HOME": "/home/me", "TMPDIR": "/tmp", "PWD": "/work/app"}
)


def _rows(path: Path) -> Iterator[tuple[str, str]]:
    heading = ""
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.startswith("= "):
            heading = line[2:]
        elif line and not line.startswith("#"):
            yield heading, line.replace("⏎", "\n")


def _effects() -> Iterator[tuple[str, str, str, str]]:
    for path in sorted(CASES.glob("*.txt")):
        for heading, line in _rows(path) if path.name != "reads.txt" else ():
            kind, _, command = line.partition(": ")
            standard, strict = heading.split()[:2]
            yield standard, strict, kind, command


@pytest.mark.parametrize(("standard", "strict", "kind", "command"), list(_effects()))
def test_a_command_has_its_effect_and_its_answers(standard: str, strict: str, kind: str, command: str) -> None:
    found = {name: judge(command, policy=name, around=AROUND) for name in ("standard", "strict")}
    answers = {name: verdict.verdict.replace("none", "-") for name, verdict in found.items()}
    assert answers == {"standard": standard, "strict": strict}, found["strict"].effects
    worst = found["strict"].cause
    if kind == "-":
        assert not [one for one in found["strict"].effects if one.harm != "low"]
    elif worst is not None:
        assert worst.kind == kind
    else:
        assert kind in {one.kind for one in found["strict"].effects}


@pytest.mark.parametrize(("heading", "command"), list(_rows(CASES / "reads.txt")))
def test_only_what_provably_reads_is_granted(heading: str, command: str) -> None:
    verdict = judge(command, policy=Policy(allow_read_only=True), around=AROUND)
    assert (verdict.verdict == "allow") == (heading == "grant"), verdict.effects


def test_there_are_enough_cases() -> None:
    assert len(list(_effects())) + len(list(_rows(CASES / "reads.txt"))) >= 600
