"""The memory of hook agents: one store for each repository, which everybody searches."""

from __future__ import annotations

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookline.llm.tools import ToolPlace
from hookline.memory.agent_tool import LARGEST_STORE, Memory

TOKEN = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"


@pytest.fixture
def place(tmp_path: Path) -> ToolPlace:
    project = tmp_path / "project"
    (project / "src").mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    environ = {"HOME": str(tmp_path / "home"), "PATH": "/usr/bin:/bin"}
    return ToolPlace(project=str(project), cwd=str(project), environ=environ)


def store(tmp_path: Path) -> Path:
    (found,) = (tmp_path / "home/.local/share/hookline/knowledge/memory").glob("*/notes.jsonl")
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
    assert {one["summary"] for one in notes} == {f"note {number}" for number in range(24)}
    assert sorted(one["id"] for one in notes) == list(range(1, 25))


def test_the_oldest_notes_make_room(place: ToolPlace, tmp_path: Path) -> None:
    memory = Memory(place)
    memory.memory("save", "oldest")
    line = json.dumps({"summary": "x" * 10_000, "id": 7}) + "\n"
    with store(tmp_path).open("a") as file:
        file.write(line * (LARGEST_STORE // len(line) + 1))
    memory.memory("save", "newest")
    texts = [one["summary"] for one in memory.notes()]
    assert "oldest" not in texts
    assert texts[-1] == "newest"
    assert store(tmp_path).stat().st_size < LARGEST_STORE


def test_notes_of_an_earlier_version_are_adopted_once(place: ToolPlace, tmp_path: Path) -> None:
    from hookline.memory.agent_tool import _earlier_file  # pyright: ignore[reportPrivateUsage]

    old = Path(_earlier_file(str(tmp_path / "home/.local/state/hookline"), place.project))
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps({"time": "t", "text": "an old note", "tags": []}) + "\nhalf a li")
    assert [one["summary"] for one in Memory(place).notes()] == ["an old note"]
    assert [one["summary"] for one in Memory(place).notes()] == ["an old note"]
    assert not old.exists()
