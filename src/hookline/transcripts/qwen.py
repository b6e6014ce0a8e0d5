"""Qwen Code: ``~/.qwen/projects/<cwd>/chats/<session>.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    TranscriptMessage,
    answer,
    at,
    content_text,
    exit_code,
    pieces,
    rows,
    table,
    tokens,
    words,
)
from hookline.transcripts.reader import TranscriptReader, user_messages

_USAGE = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")


class QwenReader(TranscriptReader):
    agent = "qwen-code"
    home = ".qwen"
    place = "projects/{folder}/chats/*.jsonl"
    head = MappingProxyType(
        {"session": "sessionId", "cwd": "cwd", "version": "version", "branch": "gitBranch", "started": "timestamp"}
    )

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if not isinstance(record.get("sessionId"), str):
            return False
        return "provenance" in record or isinstance(table(record.get("message")).get("parts"), list)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        kind, time = record.get("type"), words(record.get("timestamp"))
        parts = table(record.get("message")).get("parts")
        if kind == "user":
            real = record.get("provenance", "real_user") == "real_user"
            yield from user_messages(pieces(parts), time, synthetic=not real)
        elif kind == "assistant":
            yield from self._model(record, parts, time)
        elif kind == "tool_result":
            yield from self._results(record, parts, time)

    def _model(self, record: dict[str, Any], parts: Any, time: str) -> Iterator[TranscriptMessage]:
        found: list[TranscriptMessage] = []
        if text := content_text(parts):
            found.append(TranscriptMessage(role="assistant", text=text, time=time))
        for part in rows(parts):
            if call := table(part, "functionCall"):
                found.append(self.tool_call(words(call, "id"), call.get("name"), call.get("args"), time))
        if found:
            found[-1] = replace(found[-1], tokens=tokens(table(record.get("usageMetadata")), _USAGE))
        yield from found

    def _results(self, record: dict[str, Any], parts: Any, time: str) -> Iterator[TranscriptMessage]:
        result = table(record, "toolCallResult")
        bad = (
            words(result, "status") in {"error", "cancelled"} or exit_code(at(result, "resultDisplay", "exitCode")) != 0
        )
        for part in rows(parts):
            if given := table(part.get("functionResponse")):
                text, failed = answer(given.get("response"))
                yield self.tool_result(words(given, "id"), text, time, failed=failed or bad, tool=words(given, "name"))
