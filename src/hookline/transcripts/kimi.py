"""Kimi Code: ``~/.kimi-code/sessions/<directory>/<session>/agents/main/wire.jsonl``."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.lines import records
from hookline.transcripts.message import About, Tokens, TranscriptMessage, moment, table, texts, tokens, words
from hookline.transcripts.paths import Homes, SessionFile, agent_home, first_text
from hookline.transcripts.reader import TranscriptReader, user_messages

_USAGE = ("inputOther", "output", "inputCacheRead")
_WIRE = os.path.join("agents", "main", "wire.jsonl")


def _index(home: str, environ: Mapping[str, str]) -> Iterator[tuple[str, str, str]]:
    """Session, its directory and the project, of all sessions."""
    file = os.path.join(agent_home("KIMI_CODE_HOME", environ, home, ".kimi-code"), "session_index.jsonl")
    for _end, one in records(file, 0):
        yield words(one.get("sessionId")), words(one.get("sessionDir")), words(one.get("workDir"))


class KimiReader(TranscriptReader):
    agent = "kimi-code"

    def __init__(self) -> None:
        super().__init__()
        self._unspent: Tokens | None = None

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return record.get("type") == "metadata" and "protocol_version" in record

    @classmethod
    def locate(cls, data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        session = first_text(data, "session_id")
        return next(
            (os.path.join(folder, _WIRE) for name, folder, _cwd in _index(home, environ) if name == session), ""
        )

    @classmethod
    def sessions(cls, directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        for _session, folder, cwd in _index(homes.home, homes.environ):
            path = os.path.join(folder, _WIRE)
            if cwd in directories and os.path.isfile(path):
                yield SessionFile(modified=os.stat(path).st_mtime, agent="kimi-code", path=path)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        kind, time = record.get("type"), moment(record.get("time"))
        if kind == "usage.record":
            self._unspent = tokens(table(record.get("usage")), _USAGE, "inputCacheCreation")
        elif kind == "context.append_message":
            yield from self._message(table(record.get("message")), time)
        elif kind == "context.append_loop_event":
            yield from self._step(table(record.get("event")), time)

    def _message(self, message: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        if message.get("role") == "user":
            typed = table(message, "origin").get("kind", "user") == "user"
            yield from user_messages([texts(message, "content")], time, synthetic=not typed)

    def _step(self, event: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        call = words(event.get("toolCallId"))
        match event.get("type"):
            case "content.part" if text := texts([table(event.get("part"))]):
                yield TranscriptMessage(role="assistant", text=text, time=time, tokens=self._spend())
            case "tool.call":
                yield replace(self.tool_call(call, event.get("name"), event.get("args"), time), tokens=self._spend())
            case "tool.result":
                result = table(event.get("result"))
                yield self.tool_result(call, texts(result, "output"), time, failed=result.get("isError") is True)
            case _:
                pass

    def _spend(self) -> Tokens | None:
        spent, self._unspent = self._unspent, None
        return spent

    def describe(self, record: dict[str, Any], known: About) -> About:
        return known if known.started else replace(known, started=moment(record.get("created_at")))

    def complete(self, path: str, known: About) -> About:
        folder = os.path.dirname(os.path.dirname(os.path.dirname(path)))
        home = os.path.dirname(os.path.dirname(os.path.dirname(folder)))
        index = _index("", {"KIMI_CODE_HOME": home} if os.path.isabs(home) else {})
        cwd = next((cwd for name, _folder, cwd in index if name == os.path.basename(folder)), "")
        return replace(known, session=os.path.basename(folder), cwd=cwd)
