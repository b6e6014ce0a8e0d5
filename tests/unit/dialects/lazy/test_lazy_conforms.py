"""What every dialect must do, tried on this one's golden files."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.config.syntax import parse_text
from hookline.dialects.base import Layer, Lookup
from hookline.dialects.lazy import DIALECT
from hookline.testing.conformance import check_config_face, check_events, check_wire_face

FILES = sorted((Path(__file__).parents[3] / "cases" / "lazy").glob("*/config.toml"))


def read(file: Path) -> Layer:
    text = file.read_text()
    tree = parse_text(str(file), text, DIALECT.syntax).tree
    return Layer(path=str(file), name="user", syntax=DIALECT.syntax, text=text, tree=tree)


GOOD = [file for file in FILES if not DIALECT.parse([read(file)], Lookup()).problems]


@pytest.mark.parametrize("file", GOOD, ids=lambda file: file.parent.name)
def test_a_golden_file_is_read_and_written(file: Path) -> None:
    check_config_face(DIALECT, file.read_text(), Lookup())


def test_every_event_is_a_row_and_no_field_is_lost() -> None:
    check_events(DIALECT)


def test_whatever_is_said_is_understood_or_refused() -> None:
    by_event = {spec.event: spec for file in GOOD for spec in DIALECT.parse([read(file)], Lookup()).specs}
    assert len(by_event) > 3
    check_wire_face(DIALECT, list(by_event.values()))
