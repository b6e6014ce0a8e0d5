"""Factory Droid: ``~/.factory/sessions/<cwd>/<session>.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, Latest, TranscriptMessage, table, words
from hookline.transcripts.parts import part_messages
from hookline.transcripts.paths import Homes, SessionFile, files_in, folder_names
from hookline.transcripts.reader import TranscriptReader


class DroidReader(TranscriptReader):
    agent = "droid"

    def __init__(self) -> None:
        self._tools = Latest()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return record.get("type") == "session_start" and "isSessionTitleManuallySet" in record

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        for name in (name for directory in directories for name in folder_names(directory)):
            yield from files_in("droid", os.path.join(homes.home, ".factory", "sessions", name), ".jsonl")

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message = table(record.get("message"))
        if record.get("type") == "message":
            # What hooks did is kept as a message that only the person sees.
            hook = "hookEventName" in message or message.get("visibility") == "user_only"
            role, time = words(message.get("role")), words(record.get("timestamp"))
            yield from part_messages(role, message.get("content"), time, self._tools, synthetic=hook)

    def describe(self, record: dict[str, Any], known: About) -> About:
        if record.get("type") == "session_start" and not known.session:
            return replace(known, session=words(record.get("id")), cwd=words(record.get("cwd")))
        if record.get("type") == "message" and known.session and not known.started:
            return replace(known, started=words(record.get("timestamp")))
        return known
