"""Gemini CLI: ``~/.gemini/tmp/<project>/chats/session-<time>-<session>.jsonl``; older ones are one document, ``.json``.

A message is written again, under the same id, when more of it is known.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    About,
    Latest,
    Spent,
    TranscriptMessage,
    answer,
    content_text,
    pieces,
    rows,
    shell_failed,
    table,
    tokens,
    words,
)
from hookline.transcripts.reader import TranscriptReader, own_words

#: In the folder of a project's chats.
_ROOT_FILE = ".project_root"
_LONGEST_PATH = 4096
_FAILED = frozenset({"error", "cancelled"})


class GeminiReader(TranscriptReader):
    agent = "gemini-cli"
    home = ".gemini"
    place = "tmp/*/chats/*.json*"
    head = MappingProxyType({"session": "sessionId", "started": "startTime"})

    def __init__(self) -> None:
        super().__init__()
        self._seen = Latest()
        self._spent = Spent()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if "projectHash" in record and "sessionId" in record:
            return True
        return record.get("type") == "gemini" and "id" in record

    @staticmethod
    def shell_failure(output: str) -> str | None:
        return output if shell_failed(output) else None

    def complete(self, path: str, known: About) -> About:
        """The directory is recorded once for all its sessions."""
        return known if known.cwd else replace(known, cwd=_project_root(path))

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        several = rows(record, "messages") or rows(record, "$set", "messages")
        for one in several or [record]:
            kind = words(one.get("type"))
            if kind == "user":
                yield from self._user(one)
            elif kind in {"gemini", "assistant"}:
                yield from self._model(one)

    def _user(self, one: dict[str, Any]) -> Iterator[TranscriptMessage]:
        time = words(one.get("timestamp"))
        for part in rows(one.get("content")):
            given = table(part.get("functionResponse"))
            if given and self._seen.first("result " + words(given.get("id"))):
                text, failed = answer(given.get("response"))
                yield self.tool_result(words(given, "id"), text, time, failed=failed, tool=words(given, "name"))
        text, synthetic = own_words(pieces(one.get("content")))
        if text and self._seen.first("user " + (words(one.get("id")) or text[:200] + time)):
            yield TranscriptMessage(role="user", text=text, time=time, synthetic=synthetic)

    def _model(self, one: dict[str, Any]) -> Iterator[TranscriptMessage]:
        name, time = words(one.get("id")), words(one.get("timestamp"))
        found: list[TranscriptMessage] = []
        text = content_text(one.get("content"))
        if text and self._seen.first("model " + (name or text[:200] + time)):
            found.append(TranscriptMessage(role="assistant", text=text, time=time))
        for call in rows(one.get("toolCalls")):
            found += self._call(call, time)
        called = [place for place, message in enumerate(found) if message.role != "tool_result"]
        if called:
            usage = tokens(table(one.get("tokens")), ("input", "output", "cached"))
            found[called[-1]] = replace(found[called[-1]], tokens=self._spent.new(name, usage))
        yield from found

    def _call(self, call: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        name, tool, given = words(call.get("id")), words(call.get("name")), table(call.get("args"))
        if self._seen.first("call " + name):
            yield self.tool_call(name, tool, given, time)
        results = [table(part.get("functionResponse")) for part in rows(call.get("result"))]
        if (results or words(call.get("status")) in _FAILED) and self._seen.first("result " + name):
            text, failed = answer(table(results[0]).get("response")) if results else ("", True)
            failed = failed or words(call, "status") in _FAILED
            yield self.tool_result(name, text, words(call, "timestamp") or time, failed=failed, tool=tool)


def _project_root(path: str) -> str:
    file = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(path))), _ROOT_FILE)
    try:
        with open(file, encoding="utf-8", errors="replace") as opened:
            root = opened.read(_LONGEST_PATH).strip()
    except (OSError, ValueError):
        return ""
    return root if os.path.isabs(root) and root.isprintable() else ""
