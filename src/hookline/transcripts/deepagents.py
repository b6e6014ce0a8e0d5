"""Deep Agents Code: ``~/.deepagents/transcripts/<thread>--<hash>.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.transcripts.message import TranscriptMessage, rows, texts, words
from hookline.transcripts.reader import TranscriptReader

_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}


class DeepAgentsReader(TranscriptReader):
    """Its transcripts do not name their directory."""

    agent = "deepagents"
    home = ".deepagents"
    place = "transcripts/*.jsonl"
    head = MappingProxyType({"session": "thread_id"})

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return "schema_version" in record and "thread_id" in record and "record_id" in record

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        role, time = words(record.get("role")), words(record.get("timestamp") or record.get("created_at"))
        if role == "tool":
            call, text, failed = (
                words(record, "tool_call_id"),
                texts(record, "content"),
                record.get("status") == "error",
            )
            yield self.tool_result(call, text, time, failed=failed, tool=words(record, "name"))
        elif role in _ROLES:
            yield from self.part_messages(_ROLES[role], record.get("content"), time)
            for one in rows(record.get("tool_calls")):
                yield self.tool_call(words(one, "id"), one.get("name"), one.get("args"), time)
