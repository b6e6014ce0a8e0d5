"""What hook agents may use."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from hookline.llm.tools import ToolPlace, gather, tool_project
from hookline.llm.tools.mcp import McpError, toolset
from hookline.llm.tools.ragsearch import RagSearch, best
from hookline.memory.agent_tool import Memory


@pytest.fixture
def place(tmp_path: Path) -> ToolPlace:
    (tmp_path / "project").mkdir()
    return ToolPlace(project=str(tmp_path / "project"), environ={"HOME": str(tmp_path / "home")})


def test_names_are_looked_up_and_unknown_ones_are_told(place: ToolPlace) -> None:
    found = gather(("memory", "youtrack", "gone", "memory"), place, {"youtrack": "server"})
    assert ([one.name for one in found.sets], found.servers, found.unknown) == (["memory"], ("youtrack",), ("gone",))


def test_no_list_means_everything_there_is(place: ToolPlace) -> None:
    found = gather(None, place, {"youtrack": "server"})
    assert ([one.name for one in found.sets], found.servers) == (["memory", "ragsearch"], ("youtrack",))
    assert gather((), place, {"youtrack": "server"}).sets == ()


def test_passages_of_the_project_are_found_with_their_place(place: ToolPlace) -> None:
    project = Path(place.project)
    (project / "docs").mkdir()
    (project / "docs" / "tea.md").write_text("intro\n" * 25 + "Green tea is steeped at 80 degrees.\n")
    (project / "coffee.md").write_text("Coffee needs 95 degrees.\n")
    Memory(place).memory("save", "the kettle is green")
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
