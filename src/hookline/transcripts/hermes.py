"""Hermes Agent: one database of all sessions, ``~/.hermes/state.db``; one in it is named ``<database>#<session>``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.database import query
from hookline.transcripts.lines import parse_record
from hookline.transcripts.message import About, TranscriptMessage, count, exit_code, rows, table, words
from hookline.transcripts.parts import moment
from hookline.transcripts.paths import Homes, SessionFile, agent_home, first_text
from hookline.transcripts.reader import TranscriptReader, is_synthetic

_MESSAGES = """SELECT id, role, content, tool_call_id, tool_calls, tool_name, timestamp FROM messages
  WHERE session_id = ? AND id > ? ORDER BY id"""


def _database(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(agent_home("HERMES_HOME", environ, home, ".hermes"), "state.db")


class HermesReader(TranscriptReader):
    """A place in a session is the number of a message."""

    agent = "hermes"

    @staticmethod
    def owns(path: str) -> bool:
        return os.path.basename(path.partition("#")[0]) == "state.db"

    @staticmethod
    def locate(data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        session = first_text(data, "session_id")
        return f"{_database(home, environ)}#{session}" if session else ""

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        """Without those of subagents, which are part of another."""
        database = _database(homes.home, homes.environ)
        wanted = "SELECT id, COALESCE(ended_at, started_at) FROM sessions WHERE cwd = ? AND parent_session_id IS NULL"
        for directory in directories:
            for session, changed in query(database, f"{wanted} ORDER BY started_at DESC LIMIT 20", (directory,)):
                yield SessionFile(modified=float(changed or 0), agent="hermes", path=f"{database}#{session}")

    def tail(self, path: str, size: int) -> Iterator[tuple[int, TranscriptMessage]]:
        return self.read(path, 0)

    def read(self, path: str, start: int) -> Iterator[tuple[int, TranscriptMessage]]:
        database, _, session = path.partition("#")
        if not session:
            found = query(database, "SELECT id FROM sessions ORDER BY started_at DESC LIMIT 1", ())
            session = words(found[0][0]) if found else ""
        for number, *row in query(database, _MESSAGES, (session, start)):
            for one in _messages(row):
                yield count(number), one

    def about(self, path: str) -> About:
        database, _, session = path.partition("#")
        found = query(database, "SELECT id, cwd, git_branch, started_at FROM sessions WHERE id = ?", (session,))
        known = About(agent=self.agent)
        if not found:
            return known
        name, cwd, branch, started = found[0]
        return replace(known, session=words(name), cwd=words(cwd), branch=words(branch), started=moment(started))


def _messages(row: list[Any]) -> Iterator[TranscriptMessage]:
    role, content, call, calls, tool = (words(value) for value in row[:5])
    time = moment(row[5])
    if role == "tool":
        result = parse_record(content.encode()) or {}
        failed = bool(result.get("error")) or exit_code(result.get("exit_code")) != 0
        text = words(result.get("output")) or words(result.get("content")) or content
        yield TranscriptMessage(role="tool_result", text=text, time=time, call=call, tool=tool, failed=failed)
    elif role == "user" and content:
        yield TranscriptMessage(role="user", text=content, time=time, synthetic=is_synthetic(content))
    elif role == "assistant":
        if content:
            yield TranscriptMessage(role="assistant", text=content, time=time)
        wrapped = parse_record(f'{{"calls": {calls or "[]"}}}'.encode()) or {}
        for one in rows(wrapped.get("calls")):
            wanted = table(one.get("function"))
            given = parse_record(words(wanted.get("arguments")).encode()) or {}
            yield TranscriptMessage(
                role="tool_call", time=time, tool=words(wanted.get("name")), call=words(one.get("id")), input=given
            )
