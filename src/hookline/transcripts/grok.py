"""Grok Build: ``~/.grok/sessions/<cwd>/<session>/updates.jsonl``, what its agent protocol says."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote, unquote

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, Latest, Role, TranscriptMessage, exit_code, table, tokens, words
from hookline.transcripts.parts import moment
from hookline.transcripts.paths import Homes, SessionFile, first_text, names_in
from hookline.transcripts.reader import TranscriptReader, is_synthetic

_USAGE = ("inputTokens", "outputTokens", "cachedReadTokens")


def _folder(home: str, directory: str) -> str:
    return os.path.join(home, ".grok", "sessions", quote(directory, safe=""))


class GrokReader(TranscriptReader):
    """Chunks of one answer follow each other, and are one message."""

    agent = "grok-build"
    holding = True

    def __init__(self) -> None:
        self._tools = Latest()
        self._held: TranscriptMessage | None = None

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return words(record.get("method")).endswith("session/update") and isinstance(record.get("params"), dict)

    @staticmethod
    def locate(data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        """It names its transcript only after the first tool."""
        session, cwd = first_text(data, "session_id", "sessionId"), first_text(data, "cwd")
        if not session or "/" in session or session.startswith("."):
            return ""
        return os.path.join(_folder(home, cwd), session, "updates.jsonl")

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        for directory in directories:
            base = _folder(homes.home, directory)
            for name in names_in(base):
                path = os.path.join(base, name, "updates.jsonl")
                if os.path.isfile(path):
                    yield SessionFile(modified=os.stat(path).st_mtime, agent="grok-build", path=path)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        update, time = table(table(record.get("params")).get("update")), moment(record.get("timestamp"))
        kind = update.get("sessionUpdate")
        text = words(table(update.get("content")).get("text"))
        if kind in {"user_message_chunk", "agent_message_chunk"}:
            role: Role = "user" if kind == "user_message_chunk" else "assistant"
            if self._held is not None and self._held.role == role:
                self._held = replace(self._held, text=self._held.text + text)
                return
            yield from self.rest()
            nobody = role == "user" and is_synthetic(text)
            self._held = TranscriptMessage(role=role, text=text, time=time, synthetic=nobody)
        elif kind == "turn_completed":
            spent = tokens(table(update.get("usage")), _USAGE)
            self._held = replace(self._held, tokens=spent) if self._held is not None else None
            yield from self.rest()
        elif kind in {"tool_call", "tool_call_update"}:
            yield from self.rest()
            yield from self._tool(update, time)

    def _tool(self, update: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        call = words(update.get("toolCallId"))
        if update.get("sessionUpdate") == "tool_call":
            self._tools.put(call, words(update.get("title")))
            given = table(update.get("rawInput"))
            yield TranscriptMessage(
                role="tool_call", time=time, tool=words(update.get("title")), call=call, input=given
            )
        elif update.get("status") in {"completed", "failed"}:
            output = table(update.get("rawOutput"))
            parts = [
                words(table(one.get("content")).get("text"))
                for one in update.get("content") or ()
                if isinstance(one, dict)
            ]
            failed = update.get("status") == "failed" or exit_code(output.get("exit_code")) != 0
            yield TranscriptMessage(
                role="tool_result",
                text="\n".join(parts),
                time=time,
                call=call,
                tool=self._tools.get(call, ""),
                failed=failed,
            )

    def rest(self) -> Iterator[TranscriptMessage]:
        held, self._held = self._held, None
        return iter(() if held is None else (held,))

    def describe(self, record: dict[str, Any], known: About) -> About:
        if known.session:
            return known
        session = words(table(record.get("params")).get("sessionId"))
        return replace(known, session=session, started=moment(record.get("timestamp")))

    def complete(self, path: str, known: About) -> About:
        return replace(known, cwd=unquote(os.path.basename(os.path.dirname(os.path.dirname(path)))))
