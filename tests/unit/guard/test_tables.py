"""Every section of every table can be read, and says something."""

from __future__ import annotations

import pytest

from hookline.guard.effects import HARMS, KINDS
from hookline.guard.options import parse_options
from hookline.guard.programs.rows import section
from hookline.guard.read_only_lists import listing
from hookline.guard.tables import sections
from hookline.guard.wrappers import wrapper

EFFECTS = ("infrastructure.txt", "packages.txt", "databases.txt", "system.txt", "git.txt")


@pytest.mark.parametrize("file", EFFECTS)
def test_a_row_names_a_known_effect_and_when_it_happens(file: str) -> None:
    for name in sections(file):
        found = section(name)
        assert found is not None
        parse_options((), found.options or "")
        for row in found.rows:
            assert (row.kind in KINDS, row.harm in HARMS) == (True, True), (name, row)
            assert row.first or row.anywhere or row.conditions, (name, row)
            assert row.why or row.harm == "low", (name, row)


def test_a_condition_names_an_option_of_its_section() -> None:
    for name in sections("git.txt"):
        found = section(name)
        assert found is not None
        known = f" {found.options} ".replace(",", " ").replace(":", " ").replace("?", " ")
        for condition in (one for row in found.rows for all_of in row.conditions for one in all_of):
            key = condition.removeprefix("!").partition("=")[0]
            assert key.isdigit() or key.startswith("c:") or f" {key} " in known or key == "help", (name, condition)


def test_what_only_reads_and_what_starts_programs_can_be_read() -> None:
    for name in sections("reads.txt"):
        found = listing(name)
        assert found is not None
        assert found.everything or found.paths or found.line or found.starts or found.version, name
    assert all(wrapper(name) is not None for name in sections("wrappers.txt"))
