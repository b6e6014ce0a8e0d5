"""Where a transcript is, when the agent does not say it."""

from __future__ import annotations

from pathlib import Path

import pytest

from hookline.transcripts import transcript_path


def made(path: Path) -> str:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("")
    return str(path)


def test_what_the_agent_says_counts_if_it_is_there(tmp_path: Path) -> None:
    there = made(tmp_path / "t.jsonl")
    assert transcript_path("codex", {"transcript_path": there}, str(tmp_path)) == there
    assert transcript_path("codex", {"transcript_path": there + "x"}, str(tmp_path)) == ""
    assert transcript_path("codex", {"transcript_path": None}, str(tmp_path)) == ""


def test_copilots_is_found_by_its_session(tmp_path: Path) -> None:
    there = made(tmp_path / ".copilot/session-state/abc/events.jsonl")
    assert transcript_path("copilot-cli", {"sessionId": "abc"}, str(tmp_path)) == there
    moved = {"COPILOT_HOME": str(tmp_path / ".copilot")}
    assert transcript_path("copilot", {"session_id": "abc"}, "/nowhere", moved) == there


@pytest.mark.parametrize("session", ["../abc", "/etc", "..", ".", "", 7, None])
def test_a_session_does_not_lead_out_of_its_folder(tmp_path: Path, session: object) -> None:
    made(tmp_path / ".copilot/abc/events.jsonl")
    assert transcript_path("copilot-cli", {"sessionId": session}, str(tmp_path)) == ""


def test_lettas_is_found_by_its_conversation(tmp_path: Path) -> None:
    folder = tmp_path / ".letta/lc-local-backend/conversations"
    named = made(folder / "Y29udmVyc2F0aW9uOmxvY2FsLWNvbnYtMQ/messages.jsonl")
    first = made(folder / "ZGVmYXVsdDphZ2VudC0x/messages.jsonl")
    assert transcript_path("letta-code", {"conversation_id": "local-conv-1"}, str(tmp_path)) == named
    assert transcript_path("letta", {"conversation_id": "default", "agent_id": "agent-1"}, str(tmp_path)) == first


def test_opencodes_is_a_session_in_its_database(tmp_path: Path) -> None:
    assert transcript_path("opencode", {"session_id": "ses_1"}, str(tmp_path)) == ""
    there = made(tmp_path / ".local/share/opencode/opencode.db")
    assert transcript_path("opencode", {"session_id": "ses_1"}, str(tmp_path)) == f"{there}#ses_1"
