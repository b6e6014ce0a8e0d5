"""Hermes Agent: one database of all sessions, ``~/.hermes/state.db``."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookline.transcripts.database import DatabaseReader
from hookline.transcripts.lines import parse_record
from hookline.transcripts.message import TranscriptMessage, exit_code, moment, rows, words
from hookline.transcripts.reader import is_synthetic


class HermesReader(DatabaseReader):
    """A place in a session is the number of a message."""

    agent = "hermes"
    home = ".hermes"
    home_variable = "HERMES_HOME"
    place = "state.db"
    last = "SELECT id FROM sessions ORDER BY started_at DESC LIMIT 1"
    listed = """SELECT id, COALESCE(ended_at, started_at) FROM sessions WHERE cwd = ? AND parent_session_id IS NULL
      ORDER BY started_at DESC LIMIT 20"""
    described = "SELECT id, cwd, '', git_branch, started_at FROM sessions WHERE id = ?"
    recorded = """SELECT id, role, content, tool_call_id, tool_calls, tool_name, timestamp FROM messages
      WHERE session_id = ? AND id > ? ORDER BY id"""

    def row_messages(self, row: list[Any]) -> Iterator[TranscriptMessage]:
        role, content, call, calls, tool = (words(value) for value in row[:5])
        time = moment(row[5])
        if role == "tool":
            result = parse_record(content.encode()) or {}
            failed = bool(result.get("error")) or exit_code(result.get("exit_code")) != 0
            text = words(result, "output") or words(result, "content") or content
            yield self.tool_result(call, text, time, failed=failed, tool=tool)
        elif role == "user" and content:
            yield TranscriptMessage(role="user", text=content, time=time, synthetic=is_synthetic(content))
        elif role == "assistant":
            if content:
                yield TranscriptMessage(role="assistant", text=content, time=time)
            wrapped = parse_record(f'{{"calls": {calls or "[]"}}}'.encode())
            for one in rows(wrapped, "calls"):
                given = parse_record(words(one, "function", "arguments").encode())
                yield self.tool_call(words(one, "id"), words(one, "function", "name"), given, time)
