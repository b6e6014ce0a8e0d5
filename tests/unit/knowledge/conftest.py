from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from tests.unit.knowledge.note_world import NoteWorld

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def world(tmp_path: Path) -> NoteWorld:
    return NoteWorld(tmp_path)
