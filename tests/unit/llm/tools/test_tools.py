"""What hook agents may use."""

from __future__ import annotations

import json
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from hookline.llm.tools import ToolPlace, gather, tool_project
from hookline.llm.tools.mcp import McpError, toolset
from hookline.llm.tools.memory import LARGEST_STORE, Memory, notes_file
from hookline.llm.tools.ragsearch import RagSearch
from hookline.llm.tools.rank import best


@pytest.fixture
def place(tmp_path: Path) -> ToolPlace:
    (tmp_path / "project").mkdir()
    return ToolPlace(project=str(tmp_path / "project"), store=str(tmp_path / "state"))


def test_names_are_looked_up_and_unknown_ones_are_told(place: ToolPlace) -> None:
    found = gather(("memory", "youtrack", "gone", "memory"), place, {"youtrack": "server"})
    assert ([one.name for one in found.sets], found.servers, found.unknown) == (["memory"], ("youtrack",), ("gone",))


def test_no_list_means_everything_there_is(place: ToolPlace) -> None:
    found = gather(None, place, {"youtrack": "server"})
    assert ([one.name for one in found.sets], found.servers) == (["memory", "ragsearch"], ("youtrack",))
    assert gather((), place, {"youtrack": "server"}).sets == ()


def test_a_note_is_found_again_by_its_words_and_by_its_tags(place: ToolPlace) -> None:
    memory = Memory(place)
    assert [memory.memory_append("likes green tea", ["drinks"]), memory.memory_append("lives in Ulm")] == [
        "kept",
        "kept",
    ]
    assert "green tea" in memory.memory_search("Tea?")
    assert "green tea" in memory.memory_search("drinks")
    assert memory.memory_search("coffee") == "no note matches"
    assert memory.memory_list().splitlines()[0].endswith("lives in Ulm")


def test_notes_of_two_projects_stay_apart_and_are_private(place: ToolPlace, tmp_path: Path) -> None:
    Memory(place).memory_append("mine")
    other = ToolPlace(project=str(tmp_path / "elsewhere" / "project"), store=place.store)
    assert Memory(other).memory_list() == "there are no notes yet"
    file = notes_file(place)
    assert os.stat(file).st_mode & 0o777 == 0o600
    assert os.stat(os.path.dirname(file)).st_mode & 0o777 == 0o700


def test_an_empty_note_is_not_kept_and_half_a_line_spoils_nothing(place: ToolPlace) -> None:
    memory = Memory(place)
    assert memory.memory_append("  ") == "nothing to keep: the note is empty"
    memory.memory_append("one")
    with open(notes_file(place), "a") as file:
        file.write('{"time": "x", "te')
    memory.memory_append("two")
    assert [note.text for note in memory.notes()] == ["one", "two"]


def test_many_writers_lose_nothing(place: ToolPlace) -> None:
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: Memory(place).memory_append(f"note {number}"), range(40)))
    assert {note.text for note in Memory(place).notes()} == {f"note {number}" for number in range(40)}


def test_the_oldest_notes_make_room(place: ToolPlace) -> None:
    memory = Memory(place)
    memory.memory_append("oldest")
    line = json.dumps({"time": "t", "text": "x" * 10_000, "tags": []}) + "\n"
    with open(notes_file(place), "a") as file:
        file.write(line * (LARGEST_STORE // len(line) + 1))
    memory.memory_append("newest")
    texts = [note.text for note in memory.notes()]
    assert "oldest" not in texts
    assert texts[-1] == "newest"
    assert os.path.getsize(notes_file(place)) < LARGEST_STORE


def test_passages_of_the_project_are_found_with_their_place(place: ToolPlace) -> None:
    project = Path(place.project)
    (project / "docs").mkdir()
    (project / "docs" / "tea.md").write_text("intro\n" * 25 + "Green tea is steeped at 80 degrees.\n")
    (project / "coffee.md").write_text("Coffee needs 95 degrees.\n")
    Memory(place).memory_append("the kettle is green")
    found = RagSearch(place).ragsearch("steeped green tea", limit=2)
    assert found.startswith("docs/tea.md:21\n")
    assert "kettle" in found
    assert RagSearch(place).ragsearch("wine") == "nothing matches"


def test_what_is_hidden_secret_linked_or_binary_is_not_looked_at(place: ToolPlace, tmp_path: Path) -> None:
    project = Path(place.project)
    (project / ".env").write_text("needle")
    (project / "server.pem").write_text("needle")
    (project / "data.bin").write_bytes(b"needle\0")
    (project / "node_modules").mkdir()
    (project / "node_modules" / "a.md").write_text("needle")
    (tmp_path / "outside.md").write_text("needle")
    (project / "link.md").symlink_to(tmp_path / "outside.md")
    os.mkfifo(project / "pipe.md")
    assert RagSearch(place).ragsearch("needle") == "nothing matches"


def test_rare_words_and_short_texts_rank_higher() -> None:
    texts = ["the tea", "the kettle and the tea and the cup and the spoon", "the the the", "a cup"]
    assert best("the tea", texts, 3) == [0, 1, 2]
    assert best("userName", ["set user_name here"], 1) == [0]
    assert best("", texts, 3) == []


def test_a_project_is_the_nearest_root_upwards(tmp_path: Path) -> None:
    deep = tmp_path / "a" / "b"
    deep.mkdir(parents=True)
    (tmp_path / "a" / ".hookline").mkdir()
    assert tool_project(str(deep)) == str(tmp_path / "a")


@pytest.mark.parametrize("written", [3, [], {}, {"command": ""}, "sh 'oops"])
def test_a_server_that_is_written_wrongly_is_refused_by_name(written: object) -> None:
    with pytest.raises(McpError, match="'tea'"):
        toolset("tea", written, environ={}, cwd="/")


def test_a_server_may_be_a_url_with_headers_from_the_environment() -> None:
    table = {"url": "https://tea.example/mcp", "headers": {"Authorization": "Bearer $TEA"}}
    made = toolset("tea", table, environ={"TEA": "secret"}, cwd="/")
    assert "secret" not in repr(made)
