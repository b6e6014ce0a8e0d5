"""Codex: ``~/.codex/sessions/<year>/<month>/<day>/rollout-<time>-<session>.jsonl``."""

from __future__ import annotations

import re
from collections.abc import Iterator
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.lines import parse_record
from hookline.transcripts.message import (
    About,
    Latest,
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

_USAGE = ("input_tokens", "output_tokens", "cached_input_tokens")
_KINDS = frozenset({"session_meta", "response_item", "event_msg", "turn_context", "compacted", "token_usage_record"})
_OUTPUTS = frozenset({"function_call_output", "custom_tool_call_output", "local_shell_call_output"})
_EXITED = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d+)$", re.MULTILINE)


class CodexReader(TranscriptReader):
    agent = "codex"
    home = ".codex"
    home_variable = "CODEX_HOME"
    #: A folder for each day on which sessions began.
    place = "sessions/*/*/*/*.jsonl"
    head_type = "session_meta"
    head = MappingProxyType(
        {
            "session": "payload.id", "cwd": "payload.cwd", "version": "payload.cli_version",
            "branch": "payload.git.branch", "started": "payload.timestamp",
        }
    )  # fmt: skip

    def __init__(self) -> None:
        super().__init__()
        self._held: TranscriptMessage | None = None
        self._failed = Latest()
        self._unspent: Tokens | None = None
        #: The session records the tokens of every call, not only a total now and then.
        self._exact = False
        self._total: Any = None

    @property
    def holding(self) -> bool:  # type: ignore[override]  # a constant in the other readers
        return self._held is not None

    @staticmethod
    def claims(record: dict[str, Any]) -> bool:
        return words(record.get("type")) in _KINDS and isinstance(record.get("payload"), dict)

    def messages(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        kind, payload = record.get("type"), table(record.get("payload"))
        time = words(record.get("timestamp"))
        if kind == "response_item":
            yield from self._item(payload, time)
        elif kind == "token_usage_record":
            self._exact = True
            yield from self._cost(tokens(table(payload.get("usage")), _USAGE))
        elif kind == "event_msg" and payload.get("type") == "token_count" and not self._exact:
            info = table(payload.get("info"))
            if info.get("total_token_usage") != self._total:
                self._total = info.get("total_token_usage")
                yield from self._cost(tokens(table(info.get("last_token_usage")), _USAGE))
        elif kind == "compacted":
            self._compacted(words(payload.get("message")))
        elif kind == "event_msg":
            for result in self.early(record):
                self._failed.put(result.call, result.failed)

    def rest(self) -> Iterator[TranscriptMessage]:
        if self._held is not None:
            yield self._held
            self._held = None

    def early(self, record: dict[str, Any]) -> Iterator[TranscriptMessage]:
        item = table(record, "payload", "item")
        if isinstance(item.get("status"), str):  # a command, a patch, a call of a server; messages have none
            failed = item["status"] in {"failed", "declined"} or exit_code(item.get("exit_code")) != 0
            text = words(item, "aggregated_output") or words(item, "error", "message")
            yield self.tool_result(words(item, "id"), text, words(record, "timestamp"), failed=failed)

    def _item(self, payload: dict[str, Any], time: str) -> Iterator[TranscriptMessage]:
        kind = words(payload.get("type"))
        if kind == "message" and payload.get("role") == "assistant":
            if text := texts(payload.get("content")):
                yield from self._hold(TranscriptMessage(role="assistant", text=text, time=time))
        elif kind == "message" and payload.get("role") == "user":
            if text := texts(payload.get("content")):
                yield from self.rest()
                yield TranscriptMessage(role="user", text=text, time=time, synthetic=_not_typed(payload, text))
        elif kind in {"function_call", "custom_tool_call", "local_shell_call"}:
            call, tool = words(payload, "call_id") or words(payload, "id"), words(payload, "name") or kind
            yield from self._hold(self.tool_call(call, tool, _input(payload), time))
        elif kind in _OUTPUTS:
            yield from self.rest()
            yield self._result(payload, time)

    def _result(self, payload: dict[str, Any], time: str) -> TranscriptMessage:
        call, output = words(payload.get("call_id")), payload.get("output")
        text = texts(output) or texts(table(output).get("content"))
        exited = _EXITED.search(text[:500])
        failed = self._failed.get(call)
        if failed is None:
            failed = table(output).get("success") is False or (exited is not None and exited[1] != "0")
        self._failed.put(call, None)  # the next call may have the same name
        return self.tool_result(call, text, time, failed=bool(failed))

    def _hold(self, message: TranscriptMessage) -> Iterator[TranscriptMessage]:
        yield from self.rest()
        self._held = replace(message, tokens=self._unspent)
        self._unspent = None

    def _cost(self, used: Tokens | None) -> Iterator[TranscriptMessage]:
        if self._held is None or self._held.tokens is not None:
            self._unspent = used
        else:
            self._held = replace(self._held, tokens=used)
        # A text is still held back: only the next record shows whether it was the summary of a compaction.
        if self._held is not None and self._held.role != "assistant":
            yield from self.rest()

    def _compacted(self, summary: str) -> None:
        """The last text was the agent's summary, not an answer."""
        held = self._held
        if held is not None and held.role == "assistant" and summary.rstrip().endswith(held.text.rstrip()):
            self._held = replace(held, synthetic=True)

    def describe(self, record: dict[str, Any], known: About) -> About:
        found, source = super().describe(record, known), at(record, "payload", "source")
        if found is known:
            return known
        # A subagent's source is an object.
        live = words(source) in {"cli", "vscode"} if source else None
        return replace(found, started=found.started or words(record, "timestamp"), interactive=live)


def _not_typed(payload: dict[str, Any], text: str) -> bool:
    """Newer versions record the source of every part."""
    parts = rows(table(payload.get("internal_chat_message_metadata_passthrough")).get("content_item_metadata"))
    sources = {words(table(part.get("provenance")).get("type")) for part in parts} - {""}
    return "user" not in sources if sources else is_synthetic(text)


def _input(payload: dict[str, Any]) -> dict[str, Any]:
    arguments = payload.get("arguments", payload.get("input", payload.get("action")))
    if not isinstance(arguments, str):
        return table(arguments)
    found = parse_record(arguments.encode("utf-8", "replace"))
    return {"input": arguments} if found is None else found
