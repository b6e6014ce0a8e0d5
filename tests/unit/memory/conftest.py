from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.memory.note_world import NoteWorld

from hookline.memory.inject import git_facts
from hookline.memory.notes import qmd

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture(autouse=True)
def _a_busy_machine_has_its_time(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is not waited for is another test's business: it sets the patience that it tries."""
    monkeypatch.setattr(git_facts, "TIMEOUT", 60.0)
    monkeypatch.setattr(qmd.finish_search, "__defaults__", (60.0,))


@pytest.fixture
def world(tmp_path: Path) -> NoteWorld:
    return NoteWorld(tmp_path)
