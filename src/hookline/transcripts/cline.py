"""Cline: ``~/.cline/data/sessions/<session>/<session>.messages.json``, one document."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.lines import records
from hookline.transcripts.message import About, TranscriptMessage, moment, rows, table, tokens, words
from hookline.transcripts.reader import TranscriptReader

_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens")
_TYPED = re.compile(r"<user_input[^>]*>(.*)</user_input>", re.DOTALL)


class ClineReader(TranscriptReader):
    """Only the file beside a transcript names its directory."""

    agent = "cline"
    home = ".cline"
    place = "data/sessions/{session}/{session}.messages.json"
    head = MappingProxyType({"session": "sessionId", "version": "origin.version"})

    @classmethod
    def owns(cls, path: str) -> bool:
        return path.endswith(".messages.json")

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        for message in rows(record, "messages"):
            spent, time = tokens(table(message, "metrics"), _USAGE), moment(message.get("ts"))
            for one in self.part_messages(words(message, "role"), message.get("content"), time, spent):
                typed = _TYPED.search(one.text) if one.role == "user" else None
                yield replace(one, text=typed[1]) if typed else one

    def complete(self, path: str, known: About) -> About:
        beside = next((one for _end, one in records(path.replace(".messages.json", ".json"), 0)), {})
        live = beside.get("interactive")
        return replace(
            known, cwd=words(beside.get("cwd")), started=words(beside.get("started_at")),
            interactive=live if isinstance(live, bool) else None,
        )  # fmt: skip
