"""Copilot CLI: ``~/.copilot/session-state/<session>/events.jsonl``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import (
    About,
    Latest,
    Tokens,
    TranscriptMessage,
    exit_code,
    rows,
    table,
    texts,
    tokens,
    words,
)
from hookline.transcripts.paths import Homes, SessionFile, agent_home, file_in_each, first_text
from hookline.transcripts.reader import TranscriptReader, is_synthetic

_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens")
#: In the system prompt of a run without a terminal.
_ALONE = "You are running in non-interactive mode"
_EXITED = re.compile(r"<shellId: \S+ completed with exit code (-?\d+)>\s*\Z")


def _folder(home: str, environ: Mapping[str, str]) -> str:
    return os.path.join(agent_home("COPILOT_HOME", environ, home, ".copilot"), "session-state")


class CopilotReader(TranscriptReader):
    agent = "copilot-cli"

    def __init__(self) -> None:
        self._tools = Latest()
        self._unspent: Tokens | None = None
        #: Why a hook last refused to let the agent stop: the agent repeats it as a prompt.
        self._refused = ""

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return "." in words(record.get("type")) and isinstance(record.get("data"), dict) and "parentId" in record

    @staticmethod
    def locate(data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        """It names its transcript only when it stops."""
        session = first_text(data, "session_id", "sessionId")
        if not session or "/" in session or session.startswith("."):
            return ""
        return os.path.join(_folder(home, environ), session, "events.jsonl")

    @staticmethod
    def sessions(directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        return file_in_each("copilot-cli", _folder(homes.home, homes.environ), "events.jsonl")

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
            call, tool, given = words(one.get("toolCallId")), words(one.get("name")), table(one.get("arguments"))
            self._tools.put(call, tool)
            found.append(TranscriptMessage(role="tool_call", time=time, tool=tool, call=call, input=given))
        if found:
            found[-1] = replace(found[-1], tokens=self._unspent)
            self._unspent = None
        yield from found

    def _result(self, data: dict[str, Any], time: str) -> TranscriptMessage:
        call = words(data.get("toolCallId"))
        text = texts(table(data.get("result")).get("content")) or words(table(data.get("error")).get("message"))
        failed = data.get("success") is False or exit_code(table(data.get("shellExecution")).get("exitCode")) != 0
        return TranscriptMessage(
            role="tool_result", text=text, time=time, call=call, tool=self._tools.get(call, ""), failed=failed
        )

    def describe(self, record: dict[str, Any], known: About) -> About:
        data = table(record.get("data"))
        if record.get("type") == "session.start" and not known.session:
            around = table(data.get("context"))
            return replace(
                known, session=words(data.get("sessionId")), cwd=words(around.get("cwd")),
                version=words(data.get("copilotVersion")), branch=words(around.get("branch")),
                started=words(data.get("startTime")),
            )  # fmt: skip
        if record.get("type") == "system.message" and _ALONE in words(data.get("content")):
            return replace(known, interactive=False)
        return known
