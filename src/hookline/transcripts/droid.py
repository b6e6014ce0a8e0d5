"""Factory Droid: ``~/.factory/sessions/<cwd>/<session>.jsonl``."""

from __future__ import annotations

from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, TranscriptMessage, table, words
from hookline.transcripts.reader import TranscriptReader


class DroidReader(TranscriptReader):
    agent = "droid"
    home = ".factory"
    place = "sessions/{folder}/*.jsonl"
    head_type = "session_start"
    head = MappingProxyType({"session": "id", "cwd": "cwd"})

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return record.get("type") == "session_start" and "isSessionTitleManuallySet" in record

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message = table(record.get("message"))
        if record.get("type") == "message":
            # What hooks did is kept as a message that only the person sees.
            hook = "hookEventName" in message or message.get("visibility") == "user_only"
            role, time = words(message, "role"), words(record, "timestamp")
            yield from self.part_messages(role, message.get("content"), time, synthetic=hook)

    def describe(self, record: dict[str, Any], known: About) -> About:
        if record.get("type") == "message" and known.session and not known.started:
            return replace(known, started=words(record, "timestamp"))
        return super().describe(record, known)
