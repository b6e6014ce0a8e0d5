"""The promises every dialect makes, held by Lectic's with its document's own examples."""

from __future__ import annotations

from pathlib import Path

from hookline.dialects.lectic import DIALECT
from hookline.testing.conformance import check_dialect

SEEDS = Path(__file__).parents[3] / "seeds" / "lectic"


def test_lectic_conforms() -> None:
    check_dialect(DIALECT, [path.read_text() for path in sorted(SEEDS.glob("*.yaml"))])
