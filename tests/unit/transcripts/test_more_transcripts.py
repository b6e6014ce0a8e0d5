"""Transcripts that more of the real programs wrote: a command that works, one that fails, and an answer."""

from __future__ import annotations

import json
import shutil
import sqlite3
from pathlib import Path

import pytest

from hookline import transcripts

SAMPLES = Path(__file__).parents[2] / "payloads" / "transcripts"
FILES = {"droid": "droid.jsonl", "grok-build": "grok-build.jsonl", "kimi-code": "kimi-code.jsonl", "pi": "pi.jsonl",
         "cline": "cline.messages.json"}  # fmt: skip
STORY = ["user", "tool_call", "tool_result", "tool_call", "tool_result", "assistant"]
COLUMNS = {
    "sessions": "id, cwd, git_branch, started_at, ended_at, parent_session_id",
    "messages": "id, session_id, role, content, tool_call_id, tool_calls, tool_name, timestamp",
}


def sample(agent: str, folder: Path) -> str:
    """Where this agent would have it, as far as its reader looks at the path."""
    if agent == "hermes":
        return hermes_database(folder)
    place = folder / ("agent/sessions/--home-user-project--" if agent == "pi" else "")
    place.mkdir(parents=True, exist_ok=True)
    return str(shutil.copy(SAMPLES / FILES[agent], place))


def hermes_database(folder: Path) -> str:
    rows, at = json.loads((SAMPLES / "hermes.json").read_text(encoding="utf-8")), sqlite3.connect(folder / "state.db")
    for table, columns in COLUMNS.items():
        at.execute(f"CREATE TABLE {table} ({columns})")
        at.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(rows[table][0]))})", rows[table])
    at.commit()
    at.close()
    return f"{folder / 'state.db'}#{rows['sessions'][0][0]}"


@pytest.mark.parametrize("agent", [*FILES, "hermes"])
def test_a_session_is_one_story_whoever_recorded_it(agent: str, tmp_path: Path) -> None:
    messages = [one for one in transcripts.read(sample(agent, tmp_path), agent) if not one.synthetic]
    assert [one.role for one in messages] == STORY
    assert (messages[0].text, messages[-1].text) == ("Write hello to proof.txt", "All done.")
    assert [one.failed for one in messages if one.role == "tool_result"] == [False, True]
    assert {one.tool for one in messages if one.call} == {messages[1].tool}
    assert [one.call for one in messages[1:5]] == ["call_0", "call_0", "call_1", "call_1"]


@pytest.mark.parametrize("agent", FILES)
def test_whose_it_is_is_seen(agent: str, tmp_path: Path) -> None:
    assert transcripts.detect(sample(agent, tmp_path)) == agent


@pytest.mark.parametrize("agent", ["droid", "grok-build", "pi", "hermes"])
def test_what_is_known_of_the_session(agent: str, tmp_path: Path) -> None:
    about = transcripts.about(sample(agent, tmp_path), agent)
    assert about.session
    assert about.started.startswith("2026-11-17")
    assert about.cwd == "/home/user/project" or agent == "grok-build"


def test_a_part_of_a_database_is_read_after_the_place_where_reading_ended(tmp_path: Path) -> None:
    path = hermes_database(tmp_path)
    last = [place for place, _one in transcripts.read_from(path, 0, "hermes")][-1]
    assert list(transcripts.read_from(path, last, "hermes")) == []
