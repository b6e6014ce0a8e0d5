"""Copilot CLI: ``~/.copilot/session-state/<session>/events.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    About,
    Tokens,
    TranscriptMessage,
    at,
    exit_code,
    rows,
    table,
    texts,
    tokens,
    words,
)
from hookline.transcripts.reader import TranscriptReader, is_synthetic

_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens")
#: In the system prompt of a run without a terminal.
_ALONE = "You are running in non-interactive mode"
_EXITED = re.compile(r"<shellId: \S+ completed with exit code (-?\d+)>\s*\Z")


class CopilotReader(TranscriptReader):
    """It names its transcript only when it stops."""

    agent = "copilot-cli"
    home = ".copilot"
    home_variable = "COPILOT_HOME"
    place = "session-state/{session}/events.jsonl"
    head_type = "session.start"
    head = MappingProxyType(
        {
            "session": "data.sessionId", "cwd": "data.context.cwd", "version": "data.copilotVersion",
            "branch": "data.context.branch", "started": "data.startTime",
        }
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._unspent: Tokens | None = None
        #: Why a hook last refused to let the agent stop: the agent repeats it as a prompt.
        self._refused = ""

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return "." in words(record.get("type")) and isinstance(record.get("data"), dict) and "parentId" in record

    @staticmethod
    def shell_failure(output: str) -> str | None:
        found = _EXITED.search(output)
        return f"exit code {found[1]}\n{output[: found.start()]}" if found and found[1] != "0" else None

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        kind, data, time = record.get("type"), table(record.get("data")), words(record.get("timestamp"))
        if kind == "user.message":
            yield from self._user(data, time)
        elif kind == "session.usage_record":
            self._unspent = tokens(table(data.get("usage")), _USAGE)
        elif kind == "assistant.message":
            yield from self._model(data, time)
        elif kind == "tool.execution_complete":
            yield self._result(data, time)
        elif kind == "hook.end" and data.get("hookType") == "agentStop":
            self._refused = words(table(data.get("output")).get("reason"))

    def _user(self, data: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        text = words(data.get("content"))
        if text:
            again = text == self._refused
            other = words(data.get("source")) not in {"", "user"}
            yield TranscriptMessage(role="user", text=text, time=time, synthetic=again or other or is_synthetic(text))
        self._refused = ""

    def _model(self, data: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        found: list[TranscriptMessage] = []
        if text := words(data.get("content")):
            found.append(TranscriptMessage(role="assistant", text=text, time=time))
        for one in rows(data.get("toolRequests")):
            found.append(self.tool_call(words(one, "toolCallId"), one.get("name"), one.get("arguments"), time))
        if found:
            found[-1] = replace(found[-1], tokens=self._unspent)
            self._unspent = None
        yield from found

    def _result(self, data: dict[str, Any], time: str) -> TranscriptMessage:
        text = texts(data, "result", "content") or words(data, "error", "message")
        failed = data.get("success") is False or exit_code(at(data, "shellExecution", "exitCode")) != 0
        return self.tool_result(words(data, "toolCallId"), text, time, failed=failed)

    def describe(self, record: dict[str, Any], known: About) -> About:
        if record.get("type") == "system.message" and _ALONE in words(record, "data", "content"):
            return replace(known, interactive=False)
        return super().describe(record, known)
