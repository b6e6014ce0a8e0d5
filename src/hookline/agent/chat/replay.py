"""Restore a conversation from its transcript: the history, the messages to send, and open tool calls."""

from __future__ import annotations

import json
import os
from datetime import datetime
from typing import Any

from hookline.agent.message import AssistantMessage, Message, Thought, ToolCall, ToolResult, UserMessage
from hookline.core._dataclass import dataclass, field, replace
from hookline.core.errors import DataError


@dataclass(slots=True, kw_only=True)
class TranscriptState:
    """``open_calls`` are tool calls without a result: the session died while they ran."""

    session: str = ""
    cwd: str = ""
    model: str = ""
    mode: str = ""
    last: str | None = None
    messages: list[Message] = field(default_factory=list[Message])
    history: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    open_calls: dict[str, str] = field(default_factory=dict[str, str])
    #: As a live conversation counts them.
    size: int = 0
    tool_calls: int = 0
    #: Used while reading: the tool of each call, and each message by its record.
    names: dict[str, str] = field(default_factory=dict[str, str])
    by_uuid: dict[str, Message] = field(default_factory=dict[str, Message])


def replay(path: str) -> TranscriptState:
    """Lines that cannot be read (partial after a crash, or foreign) are skipped."""
    found = TranscriptState(session=os.path.basename(path).removesuffix(".jsonl"))
    try:
        with open(path, "rb") as file:
            for line in file:
                try:
                    record = json.loads(line)
                except ValueError:
                    continue
                if isinstance(record, dict):
                    _apply(found, record)
    except OSError as error:
        raise DataError(f"cannot read the transcript {path!r}: {error.strerror}") from None
    return found


def _apply(found: TranscriptState, record: dict[str, Any]) -> None:
    if isinstance(record.get("uuid"), str):
        found.last = record["uuid"]
    found.cwd = found.cwd or _text(record.get("cwd"))
    message = record.get("message")
    message = message if isinstance(message, dict) else {}
    match record.get("type"):
        case "user":
            _user(found, record, message)
        case "assistant":
            _assistant(found, record, message)
        case "system":
            _system(found, record)
        case _:
            pass


def _system(found: TranscriptState, record: dict[str, Any]) -> None:
    match record.get("subtype"):
        case "reset":
            found.size = 0
            kept = found.by_uuid.get(_text(record.get("keeps")))
            found.messages[:] = [UserMessage(parts=(_text(record.get("content")),))] if record.get("content") else []
            found.messages += [kept] if kept is not None else []
        case "reply_context":
            put_before_reply(found.messages, _text(record.get("content")))
            _grow(found, _text(record.get("content")))
        case "mode":
            found.mode = _text(record.get("mode"))
        case _:
            pass


def _user(found: TranscriptState, record: dict[str, Any], message: dict[str, Any]) -> None:
    if record.get("isCompactSummary"):
        # Not at the boundary before it: a session that died between the two has no summary, and must not lose everything.
        found.messages.clear()
        found.size = 0
    content = message.get("content")
    if isinstance(content, str):
        content = [{"type": "text", "text": content}]
    texts: list[str] = []
    for block in content if isinstance(content, list) else ():
        if not isinstance(block, dict):
            continue
        if block.get("type") == "tool_result":
            name = _text(block.get("tool_use_id"))
            found.open_calls.pop(name, None)
            result = ToolResult(
                id=name,
                name=found.names.get(name, ""),
                content=_result_text(block.get("content")),
                is_error=bool(block.get("is_error")),
            )
            found.messages.append(result)
            found.tool_calls += 1
            _grow(found, result.content)
        elif block.get("type") == "text":
            texts.append(_text(block.get("text")))
    if not texts:
        return
    prompt = UserMessage(parts=tuple(texts))
    found.messages.append(prompt)
    _grow(found, "".join(texts))
    if isinstance(record.get("uuid"), str):
        found.by_uuid[record["uuid"]] = prompt
    auto = bool(record.get("autoSubmit"))
    if auto or not record.get("isMeta"):
        found.history.append(history_entry("user", "\n\n".join(texts), _time(record), auto=auto))


def _assistant(found: TranscriptState, record: dict[str, Any], message: dict[str, Any]) -> None:
    text: list[str] = []
    thoughts: list[Thought] = []
    calls: list[ToolCall] = []
    content = message.get("content")
    for block in content if isinstance(content, list) else ():
        match block:
            case {"type": "text", "text": str(piece)}:
                text.append(piece)
            case {"type": "thinking", "thinking": str(thought)}:
                opaque = {key: block[key] for key in ("id", "signature") if isinstance(block.get(key), str)}
                thoughts.append(Thought(text=thought, provider=_text(block.get("provider")), opaque=opaque))
            case {"type": "tool_use", "id": str(name), "name": str(tool)}:
                calls.append(ToolCall(id=name, name=tool, arguments=block.get("input")))
            case _:
                pass
    reply = AssistantMessage(text="".join(text), thinking=tuple(thoughts), tool_calls=tuple(calls))
    found.messages.append(reply)
    found.open_calls = {call.id: call.name for call in calls}
    found.names |= found.open_calls
    found.model = _text(message.get("model")) or found.model
    found.size = _counted(message.get("usage")) or found.size
    if isinstance(record.get("uuid"), str):
        found.by_uuid[record["uuid"]] = reply
    if reply.text:
        found.history.append(history_entry("assistant", reply.text, _time(record)))


def _counted(usage: Any) -> int:
    """All tokens of a request, under the names of every version of transcripts."""
    counts = usage if isinstance(usage, dict) else {}
    names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens", "output_tokens")
    return sum(count for name in names if isinstance(count := counts.get(name), int))


def _grow(found: TranscriptState, text: str) -> None:
    if found.size:
        found.size += len(text) // 4


def put_before_reply(messages: list[Message], text: str) -> None:
    place = next((at for at in range(len(messages) - 1, -1, -1) if isinstance(messages[at], AssistantMessage)), -1)
    if place >= 0 and isinstance(reply := messages[place], AssistantMessage):
        messages[place] = replace(reply, text=f"{text}\n\n{reply.text}".strip())


def history_entry(role: str, text: str, time: float, *, auto: bool = False) -> dict[str, Any]:
    """One entry of a history, as events carry it."""
    entry: dict[str, Any] = {"role": role, "text": text, "time": time}
    return {**entry, "meta": {"auto_submit": True}} if auto else entry


def _result_text(content: Any) -> str:
    if isinstance(content, str):
        return content
    parts = content if isinstance(content, list) else []
    return "\n".join(_text(part.get("text")) for part in parts if isinstance(part, dict))


def _time(record: dict[str, Any]) -> float:
    try:
        return datetime.fromisoformat(_text(record.get("timestamp"))).timestamp()
    except (ValueError, OverflowError, OSError):
        return 0.0


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
