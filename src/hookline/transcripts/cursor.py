"""Cursor: ``~/.cursor/projects/<directory>/agent-transcripts/<session>/<session>.jsonl``, by its documents."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookline.transcripts.message import TranscriptMessage, moment, table, words
from hookline.transcripts.reader import TranscriptReader


class CursorReader(TranscriptReader):
    """Its events name the file; the records are messages with parts."""

    agent = "cursor"

    @classmethod
    def owns(cls, path: str) -> bool:
        return "/agent-transcripts/" in path

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message = table(record.get("message")) or record
        role = words(record.get("role")) or words(message.get("role"))
        yield from self.part_messages(role, message.get("content"), moment(record.get("timestamp")))
