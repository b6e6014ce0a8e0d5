"""pi: ``~/.pi/agent/sessions/--<cwd>--/<time>_<session>.jsonl``."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from types import MappingProxyType
from typing import Any

from hookline.transcripts.message import TranscriptMessage, table, texts, tokens, words
from hookline.transcripts.reader import TranscriptReader

_USAGE = ("input", "output", "cacheRead")


class PiReader(TranscriptReader):
    agent = "pi"
    home = ".pi"
    place = "agent/sessions/{folder}/*.jsonl"
    head_type = "session"
    head = MappingProxyType({"session": "id", "cwd": "cwd", "started": "timestamp"})

    @classmethod
    def owns(cls, path: str) -> bool:
        """Its records look like those of another agent that was built upon it."""
        return "/agent/sessions/--" in path

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return record.get("type") == "session" and isinstance(record.get("version"), int) and "cwd" in record

    @staticmethod
    def folders(directory: str) -> Iterable[str]:
        return (f"--{directory.strip('/').replace('/', '-')}--",)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message, time = table(record.get("message")), words(record.get("timestamp"))
        if record.get("type") == "custom_message":
            yield TranscriptMessage(role="user", text=texts(record.get("content")), time=time, synthetic=True)
        elif message.get("role") == "toolResult":
            call, text, failed = words(message, "toolCallId"), texts(message, "content"), message.get("isError") is True
            yield self.tool_result(call, text, time, failed=failed, tool=words(message, "toolName"))
        elif record.get("type") == "message":
            spent = tokens(table(message.get("usage")), _USAGE, "cacheWrite")
            yield from self.part_messages(words(message, "role"), message.get("content"), time, spent)
