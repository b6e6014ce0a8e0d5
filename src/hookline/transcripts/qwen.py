"""Qwen Code: ``~/.qwen/projects/<cwd>/chats/<session>.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    About,
    TranscriptMessage,
    answer,
    content_text,
    exit_code,
    pieces,
    rows,
    table,
    tokens,
    words,
)
from hookline.transcripts.paths import Homes, SessionFile, files_in, folder_names
from hookline.transcripts.reader import TranscriptReader, own_words

_USAGE = ("promptTokenCount", "candidatesTokenCount", "cachedContentTokenCount")


class QwenReader(TranscriptReader):
    agent = "qwen-code"

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if not isinstance(record.get("sessionId"), str):
            return False
        return "provenance" in record or isinstance(table(record.get("message")).get("parts"), list)

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        for name in (name for directory in directories for name in folder_names(directory)):
            yield from files_in("qwen-code", os.path.join(homes.home, ".qwen", "projects", name, "chats"), ".jsonl")

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        kind, time = record.get("type"), words(record.get("timestamp"))
        parts = table(record.get("message")).get("parts")
        if kind == "user":
            text, synthetic = own_words(pieces(parts))
            if text:
                synthetic = synthetic or record.get("provenance", "real_user") != "real_user"
                yield TranscriptMessage(role="user", text=text, time=time, synthetic=synthetic)
        elif kind == "assistant":
            yield from self._model(record, parts, time)
        elif kind == "tool_result":
            yield from self._results(record, parts, time)

    def _model(self, record: dict[str, Any], parts: Any, time: str) -> Iterator[TranscriptMessage]:
        found: list[TranscriptMessage] = []
        if text := content_text(parts):
            found.append(TranscriptMessage(role="assistant", text=text, time=time))
        for part in rows(parts):
            if call := table(part.get("functionCall")):
                found.append(
                    TranscriptMessage(
                        role="tool_call", time=time, tool=words(call.get("name")), call=words(call.get("id")),
                        input=table(call.get("args")),
                    )
                )  # fmt: skip
        if found:
            found[-1] = replace(found[-1], tokens=tokens(table(record.get("usageMetadata")), _USAGE))
        yield from found

    def _results(self, record: dict[str, Any], parts: Any, time: str) -> Iterator[TranscriptMessage]:
        result = table(record.get("toolCallResult"))
        display = table(result.get("resultDisplay"))
        bad = words(result.get("status")) in {"error", "cancelled"} or exit_code(display.get("exitCode")) != 0
        for part in rows(parts):
            if given := table(part.get("functionResponse")):
                text, failed = answer(given.get("response"))
                yield TranscriptMessage(
                    role="tool_result", text=text, time=time, tool=words(given.get("name")), call=words(given.get("id")),
                    failed=failed or bad,
                )  # fmt: skip

    def describe(self, record: dict[str, Any], known: About) -> About:
        """The transcript does not record whether a person took part."""
        if known.session or not isinstance(record.get("sessionId"), str):
            return known
        return replace(
            known, session=record["sessionId"], cwd=words(record.get("cwd")), version=words(record.get("version")),
            branch=words(record.get("gitBranch")), started=words(record.get("timestamp")),
        )  # fmt: skip
