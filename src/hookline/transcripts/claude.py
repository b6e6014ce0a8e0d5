"""Claude Code: ``~/.claude/projects/<cwd>/<session>.jsonl``. Our own chat writes the same records."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, Latest, Spent, TranscriptMessage, rows, table, texts, tokens, words
from hookline.transcripts.paths import Homes, SessionFile, files_in, folder_names
from hookline.transcripts.reader import TranscriptReader, own_words

_USAGE = ("input_tokens", "output_tokens", "cache_read_input_tokens")
#: Between the texts of one record.
_BETWEEN = "\n\n"
_KINDS = frozenset({"user", "assistant", "system", "summary", "queue-operation", "permission-mode", "attachment"})


class ClaudeReader(TranscriptReader):
    agent = "claude-code"

    def __init__(self) -> None:
        self._tools = Latest()
        self._spent = Spent()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if words(record.get("type")) not in _KINDS or "provenance" in record:
            return False
        return isinstance(record.get("sessionId"), str) or ("leafUuid" in record and "summary" in record)

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        for name in (name for directory in directories for name in folder_names(directory)):
            yield from files_in("claude-code", os.path.join(homes.claude, "projects", name), ".jsonl")

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        kind, message = record.get("type"), table(record.get("message"))
        if kind == "user":
            yield from self._user(record, message.get("content"))
        elif kind == "assistant":
            yield from self._assistant(record, message)

    def _user(self, record: dict[str, Any], content: Any) -> Iterator[TranscriptMessage]:
        time = words(record.get("timestamp"))
        for block in rows(content):
            if block.get("type") == "tool_result":
                call = words(block.get("tool_use_id"))
                tool, given = self._tools.get(call, ("", {}))
                yield TranscriptMessage(
                    role="tool_result", text=texts(block.get("content")), time=time, call=call, tool=tool, input=given,
                    failed=block.get("is_error") is True,
                )  # fmt: skip
        parts = [content] if isinstance(content, str) else [words(part.get("text")) for part in rows(content)]
        text, synthetic = own_words(parts, _BETWEEN)
        if text:
            marks = ("isMeta", "isCompactSummary", "isSidechain", "autoSubmit")
            synthetic = synthetic or any(record.get(mark) for mark in marks)
            yield TranscriptMessage(role="user", text=text, time=time, synthetic=synthetic)

    def _assistant(self, record: dict[str, Any], message: dict[str, Any]) -> Iterator[TranscriptMessage]:
        time = words(record.get("timestamp"))
        synthetic = message.get("model") == "<synthetic>"
        found: list[TranscriptMessage] = []
        content = message.get("content")
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else rows(content)
        # A record is one message, however many texts it has.
        texts_in = (words(block.get("text")) for block in blocks if block.get("type") == "text")
        if text := _BETWEEN.join(one for one in texts_in if one):
            found.append(TranscriptMessage(role="assistant", text=text, time=time, synthetic=synthetic))
        for block in blocks:
            if block.get("type") == "tool_use":
                call, tool, given = words(block.get("id")), words(block.get("name")), table(block.get("input"))
                # A large input is not kept: it only serves to recognise the result.
                self._tools.put(call, (tool, given if len(str(given)) < 2000 else {}))
                found.append(TranscriptMessage(role="tool_call", time=time, tool=tool, input=given, call=call))
        if found:
            parts = (message.get("id"), record.get("requestId", record.get("requestRef")))
            usage = tokens(table(message.get("usage")), _USAGE, "cache_creation_input_tokens")
            found[-1] = replace(found[-1], tokens=self._spent.new("/".join(map(words, parts)), usage))
        yield from found

    def describe(self, record: dict[str, Any], known: About) -> About:
        first = known.session == ""
        if isinstance(record.get("sessionId"), str) and first:
            known = replace(known, session=record["sessionId"])
        if not known.cwd and isinstance(record.get("cwd"), str):
            known = replace(
                known, cwd=record["cwd"], version=words(record.get("version")), branch=words(record.get("gitBranch")),
            )  # fmt: skip
        if not known.started and isinstance(record.get("timestamp"), str):
            known = replace(known, started=record["timestamp"])
        return replace(known, interactive=_person(record, known.interactive))


def _person(record: dict[str, Any], known: bool | None) -> bool | None:
    """A ``permission-mode`` record is written where a person can change it; newer versions record the entry point."""
    if known is not None:
        return known
    if record.get("type") == "permission-mode":
        return True
    entry = words(record.get("entrypoint"))
    return None if not entry else not entry.startswith("sdk")


class ChatReader(ClaudeReader):
    """Our own chat: ``chats/<cwd>/<session>.jsonl`` in hookline's data directory."""

    agent = "hookline"

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return (
            record.get("type") == "system" and record.get("subtype") == "init" and record.get("isMeta") is True
            and isinstance(record.get("sessionId"), str)
        )  # fmt: skip
