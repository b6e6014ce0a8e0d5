"""Cline: ``~/.cline/data/sessions/<session>/<session>.messages.json``, one document."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.lines import records
from hookline.transcripts.message import About, Latest, TranscriptMessage, rows, table, tokens, words
from hookline.transcripts.parts import moment, part_messages
from hookline.transcripts.paths import Homes, SessionFile, first_text, names_in
from hookline.transcripts.reader import TranscriptReader

_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens")
_TYPED = re.compile(r"<user_input[^>]*>(.*)</user_input>", re.DOTALL)


def _folder(home: str) -> str:
    return os.path.join(home, ".cline", "data", "sessions")


class ClineReader(TranscriptReader):
    agent = "cline"

    @staticmethod
    def owns(path: str) -> bool:
        return path.endswith(".messages.json")

    @staticmethod
    def locate(data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        session = first_text(data, "session_id")
        if not session or "/" in session or session.startswith("."):
            return ""
        return os.path.join(_folder(home), session, f"{session}.messages.json")

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        """Only the file beside a transcript names its directory."""
        base = _folder(homes.home)
        for name in names_in(base):
            path = os.path.join(base, name, f"{name}.messages.json")
            try:
                yield SessionFile(modified=os.stat(path).st_mtime, agent="cline", path=path, certain=False)
            except OSError:
                continue

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        tools = Latest()
        for message in rows(record.get("messages")):
            spent = tokens(table(message.get("metrics")), _USAGE)
            time = moment(message.get("ts"))
            for one in part_messages(words(message.get("role")), message.get("content"), time, tools, spent):
                typed = _TYPED.search(one.text) if one.role == "user" else None
                yield replace(one, text=typed[1]) if typed else one

    def describe(self, record: dict[str, Any], known: About) -> About:
        version = words(table(record.get("origin")).get("version"))
        return replace(known, session=words(record.get("sessionId")), version=version)

    def complete(self, path: str, known: About) -> About:
        beside = next((one for _end, one in records(path.replace(".messages.json", ".json"), 0)), {})
        live = beside.get("interactive")
        return replace(
            known, cwd=words(beside.get("cwd")), started=words(beside.get("started_at")),
            interactive=live if isinstance(live, bool) else None,
        )  # fmt: skip
