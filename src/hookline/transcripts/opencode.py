"""OpenCode: one database of all sessions, ``~/.local/share/opencode/opencode.db``.

A session in it is named ``<database>#<session>``; the database alone names the session that was used last.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from hookline.core._dataclass import replace
from hookline.transcripts.lines import parse_record
from hookline.transcripts.message import About, Tokens, TranscriptMessage, count, exit_code, table, tokens, words
from hookline.transcripts.paths import Homes, SessionFile, agent_home, first_text
from hookline.transcripts.reader import TranscriptReader, is_synthetic

if TYPE_CHECKING:
    import sqlite3

_PARTS = """SELECT m.id, m.time_created, m.data, p.data FROM message m JOIN part p ON p.message_id = m.id
  WHERE m.session_id = ? AND m.time_created > ? ORDER BY m.time_created, m.id, p.id"""


class OpenCodeReader(TranscriptReader):
    """One reading of one session. A place in it is the time of a message."""

    agent = "opencode"

    @staticmethod
    def owns(path: str) -> bool:
        return path.partition("#")[0].endswith(".db")

    @staticmethod
    def locate(data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        session = first_text(data, "session_id", "sessionID")
        return f"{_database(home, environ)}#{session}" if session else ""

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        """Without the sessions of subagents, which are part of another."""
        database = _database(homes.home, homes.environ)
        for directory in directories if os.path.isfile(database) else ():
            for session, modified in _sessions(database, directory):
                yield SessionFile(modified=modified, agent="opencode", path=f"{database}#{session}")

    def tail(self, path: str, size: int) -> Iterator[tuple[int, TranscriptMessage]]:
        return self.read(path, 0)

    def read(self, path: str, start: int) -> Iterator[tuple[int, TranscriptMessage]]:
        import sqlite3  # only this agent keeps its sessions in a database

        try:
            with _connect(path) as at:
                last, message = None, dict[str, Any]()
                for name, time, head, part in at.execute(_PARTS, (_session(at, path), start)):
                    if name != last:
                        last, message = name, table(_json(head))
                    for one in _messages(message, table(_json(part)), count(time)):
                        yield count(time), one
        except sqlite3.Error:
            return

    def about(self, path: str) -> About:
        import sqlite3

        known = About(agent=self.agent)
        try:
            with _connect(path) as at:
                row = at.execute(
                    "SELECT id, directory, version, time_created FROM session WHERE id = ?", (_session(at, path),)
                ).fetchone()
        except sqlite3.Error:
            return known
        if row is None:
            return known
        session, cwd, version = (words(value) for value in row[:3])
        return replace(known, session=session, cwd=cwd, version=version, started=_moment(count(row[3])))


def _sessions(database: str, directory: str) -> list[tuple[str, float]]:
    """The latest sessions of a directory, and when each was last used. Never raises."""
    import sqlite3

    try:
        with _connect(database) as at:
            rows = at.execute(
                "SELECT id, time_updated FROM session WHERE directory = ? AND parent_id IS NULL"
                " ORDER BY time_updated DESC LIMIT 20",
                (directory,),
            ).fetchall()
    except sqlite3.Error:
        return []
    return [(session, count(changed) / 1000) for session, changed in rows if isinstance(session, str)]


def _database(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(agent_home("XDG_DATA_HOME", environ, home, ".local", "share"), "opencode", "opencode.db")


def _connect(path: str) -> sqlite3.Connection:
    import contextlib
    import sqlite3

    file = os.path.abspath(path.partition("#")[0])
    return contextlib.closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=1.0))  # type: ignore[return-value]  # it gives the connection


def _session(at: sqlite3.Connection, path: str) -> str:
    named = path.partition("#")[2]
    if named:
        return named
    row = at.execute("SELECT id FROM session ORDER BY time_updated DESC LIMIT 1").fetchone()
    return words(row[0]) if row else ""


def _json(text: Any) -> Any:
    return parse_record(text.encode("utf-8", "replace")) if isinstance(text, str) else None


def _messages(message: dict[str, Any], part: dict[str, Any], created: int) -> Iterator[TranscriptMessage]:
    """Of one part of a message."""
    time, kind = _moment(created), part.get("type")
    if kind == "text" and words(part.get("text")):
        text = words(part.get("text"))
        if message.get("role") == "user":
            yield TranscriptMessage(
                role="user", text=text, time=time, synthetic=part.get("synthetic") is True or is_synthetic(text)
            )
        elif message.get("role") == "assistant":
            # A summary of a compaction is not an answer.
            summary = message.get("summary") is True
            yield TranscriptMessage(role="assistant", text=text, time=time, tokens=_tokens(message), synthetic=summary)
    elif kind == "tool":
        yield from _tool(message, part, time)


def _tool(message: dict[str, Any], part: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
    state = table(part.get("state"))
    tool, call, given = words(part.get("tool")), words(part.get("callID")), table(state.get("input"))
    yield TranscriptMessage(role="tool_call", time=time, tool=tool, call=call, input=given, tokens=_tokens(message))
    if words(state.get("status")) in {"completed", "error"}:
        failed = state.get("status") == "error" or exit_code(table(state.get("metadata")).get("exit")) != 0
        yield TranscriptMessage(
            role="tool_result", text=words(state.get("output")) or words(state.get("error")), time=time, tool=tool,
            call=call, input=given, failed=failed,
        )  # fmt: skip


def _tokens(message: dict[str, Any]) -> Tokens | None:
    """Removed from the message, so that they count once."""
    usage = table(message.pop("tokens", None))
    return tokens({**usage, **table(usage.get("cache"))}, ("input", "output", "read"), "write")


def _moment(milliseconds: int) -> str:
    try:
        return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""
