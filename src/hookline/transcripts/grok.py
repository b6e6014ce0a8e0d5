"""Grok Build: ``~/.grok/sessions/<cwd>/<session>/updates.jsonl``, what its agent protocol says."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any
from urllib.parse import quote, unquote

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    About,
    Role,
    TranscriptMessage,
    at,
    exit_code,
    moment,
    rows,
    table,
    tokens,
    words,
)
from hookline.transcripts.reader import TranscriptReader, is_synthetic

_USAGE = ("inputTokens", "outputTokens", "cachedReadTokens")


class GrokReader(TranscriptReader):
    """Chunks of one answer follow each other, and are one message. It names its transcript only after the first tool."""

    agent = "grok-build"
    home = ".grok"
    place = "sessions/{folder}/{session}/updates.jsonl"
    head = MappingProxyType({"session": "params.sessionId", "started": "timestamp"})
    holding = True

    def __init__(self) -> None:
        super().__init__()
        self._held: TranscriptMessage | None = None

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return words(record.get("method")).endswith("session/update") and isinstance(record.get("params"), dict)

    @staticmethod
    def folders(directory: str) -> Iterable[str]:
        return (quote(directory, safe=""),)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        update, time = table(record, "params", "update"), moment(record.get("timestamp"))
        kind = update.get("sessionUpdate")
        text = words(update, "content", "text")
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
            yield self.tool_call(call, update.get("title"), update.get("rawInput"), time)
        elif update.get("status") in {"completed", "failed"}:
            text = "\n".join(words(one, "content", "text") for one in rows(update, "content"))
            failed = update.get("status") == "failed" or exit_code(at(update, "rawOutput", "exit_code")) != 0
            yield self.tool_result(call, text, time, failed=failed)

    def rest(self) -> Iterator[TranscriptMessage]:
        held, self._held = self._held, None
        return iter(() if held is None else (held,))

    def complete(self, path: str, known: About) -> About:
        return replace(known, cwd=unquote(os.path.basename(os.path.dirname(os.path.dirname(path)))))
