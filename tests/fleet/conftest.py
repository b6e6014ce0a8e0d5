"""The real command in a project of its own, and a real broker."""

from __future__ import annotations

from collections.abc import Generator
from pathlib import Path

import pytest
from tests.cli.conftest import project
from tests.fleet.broker import Broker, running

__all__ = ["project"]


@pytest.fixture
def broker(tmp_path: Path) -> Generator[Broker]:
    with running(tmp_path, teams=("team", "other")) as one:
        yield one
