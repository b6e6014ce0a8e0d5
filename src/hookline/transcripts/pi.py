"""pi: ``~/.pi/agent/sessions/--<cwd>--/<time>_<session>.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, Latest, TranscriptMessage, table, texts, tokens, words
from hookline.transcripts.parts import part_messages
from hookline.transcripts.paths import Homes, SessionFile, files_in
from hookline.transcripts.reader import TranscriptReader

_USAGE = ("input", "output", "cacheRead")


class PiReader(TranscriptReader):
    agent = "pi"

    def __init__(self) -> None:
        self._tools = Latest()

    @staticmethod
    def owns(path: str) -> bool:
        """Its records look like those of another agent that was built upon it."""
        return "/agent/sessions/--" in path

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return record.get("type") == "session" and isinstance(record.get("version"), int) and "cwd" in record

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        for directory in directories:
            name = f"--{directory.strip('/').replace('/', '-')}--"
            yield from files_in("pi", os.path.join(homes.home, ".pi", "agent", "sessions", name), ".jsonl")

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message, time = table(record.get("message")), words(record.get("timestamp"))
        if record.get("type") == "custom_message":
            yield TranscriptMessage(role="user", text=texts(record.get("content")), time=time, synthetic=True)
        elif message.get("role") == "toolResult":
            call = words(message.get("toolCallId"))
            yield TranscriptMessage(
                role="tool_result", text=texts(message.get("content")), time=time, call=call,
                tool=words(message.get("toolName")), failed=message.get("isError") is True,
            )  # fmt: skip
        elif record.get("type") == "message":
            spent = tokens(table(message.get("usage")), _USAGE, "cacheWrite")
            yield from part_messages(words(message.get("role")), message.get("content"), time, self._tools, spent)

    def describe(self, record: dict[str, Any], known: About) -> About:
        if record.get("type") != "session" or known.session:
            return known
        session, cwd = words(record.get("id")), words(record.get("cwd"))
        return replace(known, session=session, cwd=cwd, started=words(record.get("timestamp")))
