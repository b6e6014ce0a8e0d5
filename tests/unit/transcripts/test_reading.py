"""The sessions of a directory are found wherever their agents keep them."""

from __future__ import annotations

import base64
import os
import re
import sqlite3
from pathlib import Path

import pytest
from tests.unit.transcripts.test_real_transcripts import opencode_database, sample

from hookline import transcripts
from hookline.transcripts import Homes

OWNER = "agent-local-b4c84ec5-aee5-4f99-8666-ce2234cfc6a1"
DEFAULT = base64.urlsafe_b64encode(f"default:{OWNER}".encode()).decode().rstrip("=")
#: Where each agent keeps a session of a directory, below home; ``{cwd}`` is the directory as a name.
KEPT = {
    "claude-code": ".claude/projects/{cwd}/s.jsonl",
    "codex": ".codex/sessions/2026/11/16/rollout-2026-11-16T02-37-20-s.jsonl",
    "gemini-cli": ".gemini/tmp/project/chats/session-2026-11-16T02-24-s.jsonl",
    "qwen-code": ".qwen/projects/{cwd}/chats/s.jsonl",
    "copilot-cli": ".copilot/session-state/s/events.jsonl",
    "letta-code": f".letta/lc-local-backend/conversations/{DEFAULT}/messages.jsonl",
    "hookline": ".local/share/hookline/chats/{cwd}/s.jsonl",
}


def homes(home: Path, **environ: str) -> Homes:
    chats = home / ".local/share/hookline/chats"
    return Homes(home=str(home), environ=environ, claude=str(home / ".claude"), chats=str(chats))


def keep(agent: str, home: Path, cwd: Path, *, at: float = 1_000_000_000.0, place: str = "") -> str:
    """A real transcript, as if it was of that directory, where the agent keeps it."""
    name = re.sub(r"[^A-Za-z0-9]", "-", str(cwd))
    file = home / (place or KEPT[agent]).format(cwd=name)
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(Path(sample(agent)).read_text().replace("/home/user/project", str(cwd)))
    if agent == "gemini-cli":
        (file.parent.parent / ".project_root").write_text(str(cwd))
    os.utime(file, (at, at))
    return str(file)


@pytest.mark.parametrize("agent", KEPT)
def test_a_session_of_any_agent_is_found_by_its_directory(tmp_path: Path, agent: str) -> None:
    path = keep(agent, tmp_path, tmp_path / "here")
    (found,) = transcripts.sessions_in(str(tmp_path / "here"), homes(tmp_path))
    assert (found.agent, found.path, found.modified) == (agent, path, 1_000_000_000.0)
    assert list(transcripts.sessions_in(str(tmp_path / "elsewhere"), homes(tmp_path))) == []


def test_the_one_that_was_used_last_comes_first(tmp_path: Path) -> None:
    for number, agent in enumerate(KEPT):
        keep(agent, tmp_path, tmp_path / "here", at=1_000_000_000.0 + number)
    found = [one.agent for one in transcripts.sessions_in(str(tmp_path / "here"), homes(tmp_path))]
    assert found == list(reversed(KEPT))


def test_sessions_in_a_database_are_found_without_those_of_subagents(tmp_path: Path) -> None:
    folder = tmp_path / "data/opencode"
    folder.mkdir(parents=True)
    path = opencode_database(folder)
    with sqlite3.connect(path) as at:
        at.execute("ALTER TABLE session ADD COLUMN parent_id")
        at.execute("INSERT INTO session VALUES ('inner', '/home/user/project', '', 1, 9999999999999, 'outer')")
    at.close()
    (found,) = transcripts.sessions_in("/home/user/project", homes(tmp_path, XDG_DATA_HOME=str(tmp_path / "data")))
    assert found.path == f"{path}#ses_e1e8a4c53ffev9NY03mCF6dqRT"


def test_a_broken_database_has_no_sessions(tmp_path: Path) -> None:
    file = tmp_path / ".local/share/opencode/opencode.db"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"SQLite format 3\0 and then nothing")
    assert list(transcripts.sessions_in("/home/user/project", homes(tmp_path))) == []


def test_agents_are_looked_for_where_they_were_moved_to(tmp_path: Path) -> None:
    keep("codex", tmp_path, tmp_path / "here", place="moved/sessions/2026/11/16/rollout-s.jsonl")
    keep("copilot-cli", tmp_path, tmp_path / "here", place="copilot/session-state/s/events.jsonl")
    moved = homes(tmp_path, CODEX_HOME=str(tmp_path / "moved"), COPILOT_HOME=str(tmp_path / "copilot"))
    assert {one.agent for one in transcripts.sessions_in(str(tmp_path / "here"), moved)} == {"codex", "copilot-cli"}


def test_a_conversation_file_of_our_own_is_a_session_of_its_directory(tmp_path: Path) -> None:
    (tmp_path / "talk.lec").write_text("What is this?\n")
    (found,) = transcripts.sessions_in(str(tmp_path), homes(tmp_path / "home"))
    assert found.path == str(tmp_path / "talk.lec")


def test_gemini_says_beside_its_sessions_where_they_were(tmp_path: Path) -> None:
    path = keep("gemini-cli", tmp_path, tmp_path / "here")
    assert transcripts.about(path).cwd == str(tmp_path / "here")
    Path(path).parent.parent.joinpath(".project_root").write_text("no path")
    assert transcripts.about(path).cwd == ""


def test_default_conversations_of_two_agents_of_letta_are_two_sessions(tmp_path: Path) -> None:
    path = Path(keep("letta-code", tmp_path, tmp_path))
    path.write_text(path.read_text().replace('"local-conv-1"', '"default"'))
    assert transcripts.about(str(path)).session == "b4c84ec5-aee5-4f99-8666-ce2234cfc6a1"
    strange = path.parent.rename(path.parent.with_name("no letters of that kind"))
    assert transcripts.about(str(strange / path.name)).session == "default"
