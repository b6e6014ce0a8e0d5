"""Messages whose content is a list of parts, as several agents record them: texts, tool calls and their results."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any

from hookline.core._dataclass import replace
from hookline.transcripts.message import Latest, Tokens, TranscriptMessage, rows, table, texts, words
from hookline.transcripts.reader import own_words

_CALLS = frozenset({"tool_use", "toolCall", "tool-call"})
_RESULTS = frozenset({"tool_result", "toolResult", "tool-result"})


def moment(value: Any) -> str:
    """A time in milliseconds or seconds since 1970, or a text, as ISO 8601."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return words(value)
    try:
        return datetime.fromtimestamp(value / 1000 if value > 1e11 else value, UTC).isoformat(timespec="milliseconds")
    except (ValueError, OverflowError, OSError):
        return ""


def part_messages(
    role: str, content: Any, time: str, tools: Latest, spent: Tokens | None = None, *, synthetic: bool = False
) -> Iterator[TranscriptMessage]:
    """One message of the person or the model. ``tools`` remembers the names of the tools that were called."""
    parts = [{"type": "text", "text": content}] if isinstance(content, str) else rows(content)
    found: list[TranscriptMessage] = []
    said = [words(part.get("text")) for part in parts if part.get("type") in {"text", "input_text", "output_text"}]
    if role == "user" and any(said):
        text, nobody = own_words(said)
        found.append(TranscriptMessage(role="user", text=text, time=time, synthetic=nobody or synthetic))
    elif role == "assistant" and (text := "\n".join(one for one in said if one)):
        found.append(TranscriptMessage(role="assistant", text=text, time=time))
    for part in parts:
        if part.get("type") in _CALLS:
            found.append(_call(part, time, tools))
        elif part.get("type") in _RESULTS:
            found.append(_result(part, time, tools))
    if found and spent is not None:
        found[-1] = replace(found[-1], tokens=spent)
    yield from found


def _call(part: dict[str, Any], time: str, tools: Latest) -> TranscriptMessage:
    call, tool = words(part.get("id") or part.get("toolCallId")), words(part.get("name") or part.get("toolName"))
    tools.put(call, tool)
    given = table(part.get("input")) or table(part.get("arguments"))
    return TranscriptMessage(role="tool_call", time=time, tool=tool, call=call, input=given)


def _result(part: dict[str, Any], time: str, tools: Latest) -> TranscriptMessage:
    call = words(part.get("tool_use_id") or part.get("toolCallId"))
    inner = rows(part.get("content"))
    failed = part.get("is_error") is True or any(one.get("success") is False for one in inner)
    text = texts(part.get("content")) or "\n".join(words(one.get("result")) for one in inner)
    return TranscriptMessage(
        role="tool_result",
        text=text,
        time=time,
        call=call,
        tool=words(part.get("name")) or tools.get(call, ""),
        failed=failed,
    )
