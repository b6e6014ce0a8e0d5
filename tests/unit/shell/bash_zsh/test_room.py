"""What the process beside a shell knows of directories, and when it no longer does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from hookline.shell.bash_zsh.room import Room


@pytest.fixture
def room(tmp_path: Path) -> Iterator[Room]:
    made = Room(str(tmp_path / "shell" / "1-1"), os.getpid(), "test")
    yield made
    made.close()


def _marks(room: Room) -> set[str]:
    return {path.parent.name for path in Path(room.path).glob("*/%work")}


def test_a_directory_without_hooks_is_marked_until_a_file_changes(room: Room, tmp_path: Path) -> None:
    file = tmp_path / "hookline.toml"
    room.learn("/work", "", [str(file)], 0)
    assert _marks(room) == {"idle", "same"}
    assert not room.changed() or not room.covered
    file.touch()
    if room.covered:
        assert room.changed()
        assert _marks(room) == set()


def test_what_is_doubted_is_learned_again(room: Room, tmp_path: Path) -> None:
    room.learn("/work", "", [str(tmp_path / "hookline.toml")], 0)
    room.doubt()
    assert _marks(room) == set()
    assert room.changed()
    room.learn("/work", "", [str(tmp_path / "hookline.toml")], 0)
    assert _marks(room) == {"idle", "same"}
