"""Claude Code: ``~/.claude/projects/<cwd>/<session>.jsonl``. Our own chat writes the same records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import About, Spent, TranscriptMessage, table, tokens, words
from hookline.transcripts.paths import Homes
from hookline.transcripts.reader import TranscriptReader

_USAGE = ("input_tokens", "output_tokens", "cache_read_input_tokens")
_KINDS = frozenset({"user", "assistant", "system", "summary", "queue-operation", "permission-mode", "attachment"})
#: What marks a prompt that no person typed.
_MARKS = ("isMeta", "isCompactSummary", "isSidechain", "autoSubmit")


class ClaudeReader(TranscriptReader):
    agent = "claude-code"
    place = "projects/{folder}/*.jsonl"
    between = "\n\n"

    def __init__(self) -> None:
        super().__init__()
        self._spent = Spent()

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        if words(record, "type") not in _KINDS or "provenance" in record:
            return False
        return isinstance(record.get("sessionId"), str) or ("leafUuid" in record and "summary" in record)

    @classmethod
    def directory(cls, homes: Homes) -> str:
        return homes.claude

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        message, time = table(record, "message"), words(record, "timestamp")
        if record.get("type") == "user":
            marked = any(record.get(mark) for mark in _MARKS)
            yield from self.part_messages("user", message.get("content"), time, synthetic=marked)
        elif record.get("type") == "assistant":
            synthetic = message.get("model") == "<synthetic>"
            found = list(self.part_messages("assistant", message.get("content"), time, synthetic=synthetic))
            if found:
                call = f"{words(message, 'id')}/{words(record.get('requestId', record.get('requestRef')))}"
                usage = tokens(table(message, "usage"), _USAGE, "cache_creation_input_tokens")
                found[-1] = replace(found[-1], tokens=self._spent.new(call, usage))
            yield from found

    def describe(self, record: dict[str, Any], known: About) -> About:
        known = replace(
            known, session=known.session or words(record, "sessionId"), started=known.started or words(record, "timestamp"),
            interactive=_person(record, known.interactive),
        )  # fmt: skip
        if known.cwd or not words(record, "cwd"):
            return known
        version, branch = words(record, "version"), words(record, "gitBranch")
        return replace(known, cwd=record["cwd"], version=version, branch=branch)


def _person(record: dict[str, Any], known: bool | None) -> bool | None:
    """A ``permission-mode`` record is written where a person can change it; newer versions record the entry point."""
    if known is not None:
        return known
    if record.get("type") == "permission-mode":
        return True
    entry = words(record, "entrypoint")
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
