"""OpenCode: one database of all sessions, ``~/.local/share/opencode/opencode.db``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.database import DatabaseReader
from hookline.transcripts.lines import parse_record
from hookline.transcripts.message import Tokens, TranscriptMessage, at, exit_code, moment, table, tokens, words
from hookline.transcripts.reader import is_synthetic


class OpenCodeReader(DatabaseReader):
    """A place in a session is the time of a message. A row is one part of a message."""

    agent = "opencode"
    home = os.path.join(".local", "share")
    home_variable = "XDG_DATA_HOME"
    place = os.path.join("opencode", "opencode.db")
    last = "SELECT id FROM session ORDER BY time_updated DESC LIMIT 1"
    listed = """SELECT id, time_updated / 1000.0 FROM session WHERE directory = ? AND parent_id IS NULL
      ORDER BY time_updated DESC LIMIT 20"""
    described = "SELECT id, directory, version, '', time_created FROM session WHERE id = ?"
    recorded = """SELECT m.time_created, m.id, m.time_created, m.data, p.data FROM message m
      JOIN part p ON p.message_id = m.id WHERE m.session_id = ? AND m.time_created > ?
      ORDER BY m.time_created, m.id, p.id"""

    def __init__(self) -> None:
        super().__init__()
        self._name: Any = None
        self._message: dict[str, Any] = {}

    def row_messages(self, row: list[Any]) -> Iterator[TranscriptMessage]:
        name, time, head, part = row[0], moment(row[1]), row[2], _json(row[3])
        if name != self._name:
            self._name, self._message = name, _json(head)
        kind, role, text = part.get("type"), self._message.get("role"), words(part, "text")
        if kind == "text" and role == "user" and text:
            synthetic = part.get("synthetic") is True or is_synthetic(text)
            yield TranscriptMessage(role="user", text=text, time=time, synthetic=synthetic)
        elif kind == "text" and role == "assistant" and text:
            # A summary of a compaction is not an answer.
            summary = self._message.get("summary") is True
            yield TranscriptMessage(role="assistant", text=text, time=time, tokens=self._spend(), synthetic=summary)
        elif kind == "tool":
            yield from self._tool(part, time)

    def _tool(self, part: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        state, call = table(part, "state"), words(part, "callID")
        yield replace(self.tool_call(call, part.get("tool"), state.get("input"), time), tokens=self._spend())
        if words(state, "status") in {"completed", "error"}:
            failed = state["status"] == "error" or exit_code(at(state, "metadata", "exit")) != 0
            yield self.tool_result(call, words(state, "output") or words(state, "error"), time, failed=failed)

    def _spend(self) -> Tokens | None:
        """The tokens of a message, once."""
        usage = table(self._message.pop("tokens", None))
        return tokens({**usage, **table(usage, "cache")}, ("input", "output", "read"), "write")


def _json(text: Any) -> dict[str, Any]:
    return parse_record(words(text).encode("utf-8", "replace")) or {}
