"""Letta Code with its local backend: ``~/.letta/lc-local-backend/conversations/<name>/messages.jsonl``.

Other backends keep the conversation on a server, and there is no file.
"""

from __future__ import annotations

import base64
import binascii
import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    About,
    Latest,
    Spent,
    TranscriptMessage,
    pieces,
    rows,
    table,
    texts,
    tokens,
    words,
)
from hookline.transcripts.paths import first_text
from hookline.transcripts.reader import TranscriptReader, user_messages


class LettaReader(TranscriptReader):
    agent = "letta-code"
    home = ".letta"
    place = "lc-local-backend/conversations/{session}/messages.jsonl"
    head_type = "session"
    head = MappingProxyType({"session": "id", "cwd": "cwd", "started": "timestamp"})

    def __init__(self) -> None:
        super().__init__()
        self._seen = Latest()
        self._spent = Spent()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if record.get("type") == "session":
            return "version" in record and "cwd" in record
        message = table(record.get("message"))
        return record.get("type") == "message" and "parentId" in record and "role" in message

    @staticmethod
    def session_name(data: Mapping[str, Any]) -> str:
        """The folder's name is the conversation's, encoded in characters that every file system allows."""
        conversation = first_text(data, "conversation_id")
        if not conversation:
            return ""
        owner = first_text(data, "agent_id")
        what = f"default:{owner}" if conversation == "default" else f"conversation:{conversation}"
        return base64.urlsafe_b64encode(what.encode("utf-8", "replace")).decode().rstrip("=")

    def complete(self, path: str, known: About) -> About:
        """Every agent has a conversation called ``default``; only its folder names the agent."""
        return replace(known, session=_owner(path) or known.session) if known.session == "default" else known

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message, time = table(record.get("message")), words(record.get("timestamp"))
        if record.get("type") != "message":
            return
        role, content = message.get("role"), message.get("content")
        if role == "user":
            yield from user_messages(pieces(content), time)
        elif role == "assistant":
            yield from self._model(message, time)
        elif role == "toolResult":
            call, failed = words(message, "toolCallId"), message.get("isError") is True
            yield self.tool_result(call, texts(content), time, failed=failed, tool=words(message, "toolName"))

    def _model(self, message: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        """A message is written again when the model continues it: known parts are not repeated."""
        name, found = words(message.get("id")), list[TranscriptMessage]()
        for part in rows(message.get("content")):
            text, call = words(part.get("text")), words(part.get("id"))
            if part.get("type") == "text" and text and self._seen.first(f"{name} text {text[:500]}"):
                found.append(TranscriptMessage(role="assistant", text=text, time=time))
            elif part.get("type") == "toolCall" and self._seen.first(f"{name} call {call}"):
                found.append(self.tool_call(call, part.get("name"), part.get("arguments"), time))
        if found:
            usage = tokens(table(message.get("usage")), ("input", "output", "cacheRead"), "cacheWrite")
            found[-1] = replace(found[-1], tokens=self._spent.new(f"{name} {message.get('timestamp')}", usage))
        yield from found


def _owner(path: str) -> str:
    """The folder of such a conversation is named after its agent: ``default:agent-local-<id>``."""
    folder = os.path.basename(os.path.dirname(os.path.abspath(path)))
    try:
        name = base64.b64decode(folder + "=" * (-len(folder) % 4), b"-_", validate=True).decode("ascii")
    except (binascii.Error, ValueError):
        return ""
    kind, mark, owner = name.partition(":")
    bare = owner.removeprefix("agent-").removeprefix("local-")
    return bare if kind == "default" and mark and bare.isprintable() and "/" not in bare else ""
