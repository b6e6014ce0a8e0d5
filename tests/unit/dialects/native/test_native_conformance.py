"""Our own dialect keeps what every dialect must keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.dialects.native import DIALECT
from hookline.testing.conformance import check_dialect

FILES = sorted((Path(__file__).parents[3] / "cases" / "native").glob("*/hookline.toml"))
#: Without the one that is wrong on purpose.
CASES = [file for file in FILES if "bad" not in file.parent.name]


@pytest.mark.parametrize("file", CASES, ids=[file.parent.name for file in CASES])
def test_the_native_dialect_conforms(file: Path) -> None:
    check_dialect(DIALECT, [file.read_text()])
