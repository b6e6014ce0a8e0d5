"""The memory of hook agents: one store for each repository, which everybody searches."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookline.llm.tools import ToolPlace
from hookline.memory.agent_tool import Memory
from hookline.memory.context import memory_context
from hookline.memory.journal.files import Author, Journal

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def place(tmp_path: Path) -> ToolPlace:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    environ = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    return ToolPlace(project=str(project), cwd=str(project), environ=environ)


def store(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "home/.local/share/hookline/knowledge/memory").glob("*/journal/*.jsonl")
    return found


def test_what_was_saved_is_read_and_cleared(place: ToolPlace) -> None:
    memory = Memory(place)
    saved = [memory.memory("save", "likes green tea"), memory.memory("save", content="in Ulm", project="home")]
    assert saved == ["saved with ID 1", "saved with ID 2"]
    assert memory.memory("read").splitlines()[1:] == ["likes green tea"]
    assert memory.memory("read", project="home").splitlines()[1:] == ["in Ulm"]
    assert memory.memory("read", id="2") == memory.memory("read", project="home")
    assert len(memory.memory("read", project="all").split("\n\n")) == 2
    assert "green tea" in memory.memory_search("Tea?")
    assert memory.memory("clear", id="1") == "cleared 1 note"
    assert (memory.memory("read"), memory.memory("clear", project="all")) == ("no such notes", "cleared 1 note")


def test_a_wrong_call_says_what_to_do(place: ToolPlace) -> None:
    memory = Memory(place)
    assert memory.memory("save", "  ") == "nothing to save: the note is empty"
    assert memory.memory("forget") == "there is no action 'forget'; use save, read or clear"
    assert memory.memory("clear").startswith("say which notes to clear")


def test_no_secret_is_kept(place: ToolPlace, tmp_path: Path) -> None:
    Memory(place).memory("save", f"the token is {TOKEN}")
    assert TOKEN not in store(tmp_path).read_text()
    assert "the token is" in store(tmp_path).read_text()
    assert store(tmp_path).stat().st_mode & 0o777 == 0o600


def test_clones_and_folders_of_one_repository_share_their_notes(place: ToolPlace, tmp_path: Path) -> None:
    subprocess.run(["git", "-C", place.project, "remote", "add", "origin", "https://example.org/a/b.git"], check=True)
    Memory(place).memory("save", "from the first")
    clone = tmp_path / "clone"
    subprocess.run(["git", "init", "-q", str(clone)], check=True)
    subprocess.run(["git", "-C", str(clone), "remote", "add", "origin", "git@example.org:a/b.git"], check=True)
    for folder in (clone, Path(place.project, "src")):
        there = ToolPlace(project=str(folder), cwd=str(folder), environ=place.environ)
        assert "from the first" in Memory(there).memory("read")
    other = ToolPlace(project=str(tmp_path), cwd=str(tmp_path), environ=place.environ)
    assert Memory(other).memory("read") == "no such notes"


def test_many_writers_lose_nothing(place: ToolPlace) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Memory(place).memory("save", f"note {number}"), range(24)))
    notes = Memory(place).notes()
    assert {one.text for one in notes} == {f"note {number}" for number in range(24)}
    assert sorted(one.details["number"] for one in notes) == list(range(1, 25))


def test_a_model_cannot_fill_the_disk(place: ToolPlace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.memory.agent_tool.LARGEST_STORE", 100)
    memory = Memory(place)
    memory.memory("save", "x" * 90)
    assert memory.memory("save", "y" * 20).startswith("nothing was saved")
    memory.memory("clear", id="1")
    assert memory.memory("save", "y" * 20) == "saved with ID 2"


def test_what_sessions_decided_is_found_too_and_nothing_that_was_cleared(place: ToolPlace) -> None:
    memory = Memory(place)
    here = memory_context(place.cwd, place.environ)
    Journal(here.places, here.project).add("decision", "Tea is kept in the kitchen", Author(source="distiller"))
    memory.memory("save", "green tea tastes best")
    found = memory.memory_search("tea").split("\n\n")
    assert sorted(one.partition(",")[0] for one in found) == ["decision", "note"]
    memory.memory("clear", project="all")
    assert "green tea" not in memory.memory_search("tea").split("\n\n")[0]


def test_notes_of_an_earlier_version_of_the_store_can_be_read_and_cleared(place: ToolPlace) -> None:
    here = memory_context(place.cwd, place.environ)
    left = Path(here.places.memory(here.project), "notes.jsonl")
    left.parent.mkdir(parents=True)
    left.write_text('{"ts": "2026-11-01T08:00:00+00:00", "type": "note", "id": 4, "summary": "old", "scope": "home"}\n')
    memory = Memory(place)
    assert "old" in memory.memory("read", project="home")
    assert memory.memory("save", "new") == "saved with ID 5"
    assert memory.memory("clear", id="4") == "cleared 1 note"
    assert [one.text for one in Memory(place).notes()] == ["new"]


def test_notes_of_an_earlier_version_are_adopted_once(place: ToolPlace, tmp_path: Path) -> None:
    from hookline.memory.agent_tool import _earlier_file  # pyright: ignore[reportPrivateUsage]

    old = Path(_earlier_file(str(tmp_path / "home/.local/state/hookline"), place.project))
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps({"time": "t", "text": "an old note", "tags": []}) + "\nhalf a li")
    assert [one.text for one in Memory(place).notes()] == ["an old note"]
    assert [one.text for one in Memory(place).notes()] == ["an old note"]
    assert not old.exists()
