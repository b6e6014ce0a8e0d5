"""What every dialect must do, tried on the golden files of those whose files are one document each."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from hookline.config.syntax import parse_text
from hookline.dialects import dialect_named
from hookline.dialects.base import Layer, Lookup
from hookline.testing.conformance import check_config_face, check_events, check_wire_face

if TYPE_CHECKING:
    from hookline.dialects.base import Parsed

CASES = Path(__file__).parents[1] / "cases"
FILES = {"claude": "settings.json", "lazy": "config.toml", "letta": "settings.json"}


def parsed(dialect: str, file: Path) -> Parsed:
    speaker, text = dialect_named(dialect), file.read_text()
    tree = parse_text(str(file), text, speaker.syntax).tree
    layer = Layer(path=str(file), name="user", syntax=speaker.syntax, text=text, tree=tree)
    return speaker.parse([layer], Lookup())


GOOD = [
    (dialect, file)
    for dialect, name in FILES.items()
    for file in sorted((CASES / dialect).glob(f"*/{name}"))
    if not parsed(dialect, file).problems
]


@pytest.mark.parametrize(("dialect", "file"), GOOD, ids=[f"{dialect}/{file.parent.name}" for dialect, file in GOOD])
def test_a_golden_file_is_read_and_written(dialect: str, file: Path) -> None:
    check_config_face(dialect_named(dialect), file.read_text(), Lookup())


@pytest.mark.parametrize("dialect", FILES)
def test_every_event_is_a_row_and_no_field_is_lost(dialect: str) -> None:
    check_events(dialect_named(dialect))


@pytest.mark.parametrize("dialect", FILES)
def test_whatever_is_said_is_understood_or_refused(dialect: str) -> None:
    files = [file for name, file in GOOD if name == dialect]
    by_event = {spec.event: spec for file in files for spec in parsed(dialect, file).specs}
    assert len(by_event) > 3
    check_wire_face(dialect_named(dialect), list(by_event.values()))
