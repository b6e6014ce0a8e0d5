"""Transcripts that the real programs wrote: a tool that works, one that fails, an answer, and a refused stop."""

from __future__ import annotations

import json
import sqlite3
from pathlib import Path

import pytest

from hookline import transcripts

SAMPLES = Path(__file__).parents[2] / "payloads" / "transcripts"
FILES = ("claude-code", "codex", "gemini-cli", "qwen-code", "copilot-cli", "letta-code", "hookline")
#: What these sessions had in common; Letta did not write down the result of the second call.
STORY = ("user", "tool_call", "tool_result", "tool_call", "tool_result", "assistant", "assistant")


def sample(agent: str) -> str:
    return str(SAMPLES / f"{agent}.jsonl")


def opencode_database(folder: Path) -> str:
    """OpenCode's tables as far as they are read, with the rows of a real session."""
    path = folder / "opencode.db"
    rows = json.loads((SAMPLES / "opencode.json").read_text())
    at = sqlite3.connect(path)
    at.execute("CREATE TABLE session (id, directory, version, time_created, time_updated)")
    at.execute("CREATE TABLE message (id, session_id, time_created, data)")
    at.execute("CREATE TABLE part (id, message_id, session_id, data)")
    for table, found in rows.items():
        at.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(found[0]))})", found)
    at.commit()
    at.close()
    return str(path)


@pytest.mark.parametrize("agent", FILES)
def test_whose_it_is_is_seen_in_the_content(agent: str) -> None:
    assert transcripts.detect(sample(agent)) == agent


@pytest.mark.parametrize("agent", [agent for agent in FILES if agent not in {"letta-code", "hookline"}])
def test_every_agent_tells_the_same_story(agent: str) -> None:
    told = [one for one in transcripts.read(sample(agent)) if not one.synthetic and one.text != "ONE-THING-MORE"]
    assert tuple(one.role for one in told) == STORY
    assert told[0].text == "Write hello to proof.txt"
    assert [one.failed for one in told if one.role == "tool_result"] == [False, True]
    assert [one.text for one in told if one.role == "assistant"] == ["First answer.", "All done."]
    assert "echo hello > proof.txt && cat proof.txt" in told[1].input.values()


@pytest.mark.parametrize("agent", FILES)
def test_every_model_call_is_paid_once(agent: str) -> None:
    spent = [one.tokens for one in transcripts.read(sample(agent)) if one.tokens is not None]
    calls = {"letta-code": 3, "hookline": 3}.get(agent, 4)
    assert [(one.input, one.output) for one in spent] == [(10, 5)] * calls


@pytest.mark.parametrize("agent", FILES)
def test_calls_and_results_belong_together(agent: str) -> None:
    messages = list(transcripts.read(sample(agent)))
    called = {(one.call, one.tool) for one in messages if one.role == "tool_call"}
    assert {(one.call, one.tool) for one in messages if one.role == "tool_result"} <= called


@pytest.mark.parametrize("agent", FILES)
def test_every_message_has_its_time(agent: str) -> None:
    assert all(one.time.startswith("2026-11-15T") for one in transcripts.read(sample(agent)))


@pytest.mark.parametrize("agent", ["claude-code", "codex", "copilot-cli"])
def test_a_refused_stop_is_not_the_persons_word(agent: str) -> None:
    said = [one for one in transcripts.read(sample(agent)) if "ONE-THING-MORE" in one.text]
    assert [one.synthetic for one in said] == [True]


@pytest.mark.parametrize(
    ("agent", "interactive", "cwd"),
    [
        ("claude-code", False, True), ("codex", False, True), ("gemini-cli", None, False), ("qwen-code", None, True),
        ("copilot-cli", False, True), ("letta-code", None, True), ("hookline", True, True),
    ],
)  # fmt: skip
def test_what_a_transcript_says_of_its_session(agent: str, interactive: bool | None, cwd: bool) -> None:
    about = transcripts.about(sample(agent))
    assert (about.agent, about.interactive) == (agent, interactive)
    assert about.session
    assert about.started.startswith("2026-11-15T")
    assert about.cwd == ("/home/user/project" if cwd else "")


@pytest.mark.parametrize("short", ["claude", "gemini", "qwen", "copilot", "letta"])
def test_the_name_of_the_dialect_will_do(short: str) -> None:
    agent = next(agent for agent in FILES if agent.startswith(short))
    assert list(transcripts.read(sample(agent), short)) == list(transcripts.read(sample(agent)))


# Letta writes a message again when the model goes on in it: who reads on is told all of it.
@pytest.mark.parametrize("agent", [agent for agent in FILES if agent != "letta-code"])
def test_reading_on_from_any_place_tells_the_rest_and_nothing_twice(agent: str) -> None:
    whole = list(transcripts.read_from(sample(agent)))
    for number, (place, _message) in enumerate(whole):
        rest = [one.role for _end, one in transcripts.read_from(sample(agent), place)]
        # A line may hold several messages: the place after it is the same for all of them.
        beyond = [one.role for end, one in whole[number + 1 :] if end > place]
        assert rest[-len(beyond) :] == beyond if beyond else rest == []


@pytest.mark.parametrize("agent", FILES)
def test_a_transcript_that_grows_is_told_once(agent: str, tmp_path: Path) -> None:
    text, grown, place = Path(sample(agent)).read_bytes(), tmp_path / "t.jsonl", 0
    told: list[str] = []
    lines = text.splitlines(keepends=True)
    for number in range(1, len(lines) + 1):
        grown.write_bytes(b"".join(lines[:number]))
        for end, message in transcripts.read_from(str(grown), place, agent):
            place = end
            told.append(message.role)
    assert len(told) >= len(list(transcripts.read(sample(agent))))
    assert place <= len(text)


def test_opencode_is_read_from_its_database(tmp_path: Path) -> None:
    path = opencode_database(tmp_path)
    told = list(transcripts.read(path))
    assert [one.role for one in told] == [
        "user", "tool_call", "tool_result", "tool_call", "tool_result", "assistant",
    ]  # fmt: skip
    assert [one.failed for one in told if one.role == "tool_result"] == [False, True]
    about = transcripts.about(path)
    assert (about.agent, about.cwd, about.version) == ("opencode", "/home/user/project", "1.18.33")
    assert list(transcripts.read(f"{path}#{about.session}")) == told
    assert list(transcripts.read(f"{path}#ses_other")) == []


def test_a_database_that_is_none_is_empty(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"not a database at all, but long enough to look like one" * 40)
    assert list(transcripts.read(str(tmp_path / "x.db"))) == []
    assert transcripts.about(str(tmp_path / "x.db")).session == ""
    assert list(transcripts.read(str(tmp_path / "missing.db"))) == []


def test_codex_notes_how_a_command_ended_before_its_message(tmp_path: Path) -> None:
    lines = Path(sample("codex")).read_bytes().splitlines(keepends=True)
    ends = [number for number, line in enumerate(lines) if b'"CommandExecution"' in line]
    for last, failed in zip(ends, (False, True), strict=True):
        (tmp_path / "t.jsonl").write_bytes(b"".join(lines[: last + 1]))
        result = transcripts.tool_result(str(tmp_path / "t.jsonl"), "call_0", "codex")
        assert result is not None
        assert result.failed is failed
        # One line earlier the call is under way, and an older one of the same name is not meant.
        (tmp_path / "t.jsonl").write_bytes(b"".join(lines[:last]))
        assert transcripts.tool_result(str(tmp_path / "t.jsonl"), "call_0", "codex") is None
