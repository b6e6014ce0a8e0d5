"""Deep Agents Code: ``~/.deepagents/transcripts/<thread>--<hash>.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, Latest, TranscriptMessage, rows, table, texts, words
from hookline.transcripts.parts import part_messages
from hookline.transcripts.paths import Homes, SessionFile, files_in
from hookline.transcripts.reader import TranscriptReader

_ROLES = {"human": "user", "user": "user", "ai": "assistant", "assistant": "assistant"}


class DeepAgentsReader(TranscriptReader):
    agent = "deepagents"

    def __init__(self) -> None:
        self._tools = Latest()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return "schema_version" in record and "thread_id" in record and "record_id" in record

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        """They do not name their directory."""
        return files_in("deepagents", os.path.join(homes.home, ".deepagents", "transcripts"), ".jsonl", certain=False)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        role, time = words(record.get("role")), words(record.get("timestamp") or record.get("created_at"))
        if role == "tool":
            call = words(record.get("tool_call_id"))
            yield TranscriptMessage(
                role="tool_result", text=texts(record.get("content")), time=time, call=call,
                tool=words(record.get("name")) or self._tools.get(call, ""), failed=record.get("status") == "error",
            )  # fmt: skip
        elif role in _ROLES:
            yield from part_messages(_ROLES[role], record.get("content"), time, self._tools)
            for one in rows(record.get("tool_calls")):
                call, tool = words(one.get("id")), words(one.get("name"))
                self._tools.put(call, tool)
                yield TranscriptMessage(role="tool_call", time=time, tool=tool, call=call, input=table(one.get("args")))

    def describe(self, record: dict[str, Any], known: About) -> About:
        return known if known.session else replace(known, session=words(record.get("thread_id")))
