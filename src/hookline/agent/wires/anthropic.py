"""Anthropic's messages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.agent.message import (
    AssistantMessage,
    Delta,
    Message,
    Text,
    Thinking,
    Thought,
    ToolCall,
    Usage,
    UserMessage,
)
from hookline.agent.wires.base import (
    WireReply,
    WireRequest,
    arguments_object,
    number,
    read_arguments,
    refuse_error,
    results_first,
    tool_schema,
)
from hookline.core._dataclass import replace

PROVIDER = "anthropic"
#: The protocol requires a number.
_MAX_TOKENS = 4096
_FINISHES = {
    "end_turn": "stop",
    "stop_sequence": "stop",
    "max_tokens": "length",
    "tool_use": "tool_call",
    "refusal": "content_filter",
}


def call(request: WireRequest, base_url: str | None, key: str) -> tuple[str, Mapping[str, str], Any]:
    settings = request.settings
    body: dict[str, Any] = {
        "model": request.model,
        "max_tokens": settings.max_tokens or _MAX_TOKENS,
        "messages": _messages(request),
        "stream": True,
    }
    if request.system:
        body["system"] = request.system
    if request.tools:
        body["tools"] = [
            {"name": one.name, "description": one.description, "input_schema": tool_schema(one)}
            for one in request.tools
        ]
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.thinking == "none":
        body["thinking"] = {"type": "disabled"}
    elif settings.thinking is not None:
        body |= {"thinking": {"type": "adaptive"}, "output_config": {"effort": settings.thinking}}
    url = f"{(base_url or 'https://api.anthropic.com').rstrip('/')}/v1/messages"
    return url, {"x-api-key": key, "anthropic-version": "2023-06-01"}, body


def _messages(request: WireRequest) -> list[dict[str, Any]]:
    """What one side says in a row is one message. Blank texts are refused there, so they are left out."""
    found: list[dict[str, Any]] = []
    for message in results_first(request.messages):
        role = "assistant" if isinstance(message, AssistantMessage) else "user"
        blocks = [one for one in _blocks(message) if one["type"] != "text" or one["text"].strip()]
        if blocks and found and found[-1]["role"] == role == "user":
            found[-1]["content"] += blocks
        elif blocks:
            found.append({"role": role, "content": blocks})
    return found


def _blocks(message: Message) -> Iterator[dict[str, Any]]:
    if isinstance(message, UserMessage):
        yield from ({"type": "text", "text": one} for one in message.parts)
    elif not isinstance(message, AssistantMessage):
        result = {"type": "tool_result", "tool_use_id": message.id, "content": message.content}
        yield {**result, "is_error": message.is_error}
    else:
        for thought in message.thinking:
            if thought.provider == PROVIDER and "redacted_data" in thought.opaque:
                yield {"type": "redacted_thinking", "data": thought.opaque["redacted_data"]}
            elif thought.provider == PROVIDER and thought.text and "signature" in thought.opaque:
                yield {"type": "thinking", "thinking": thought.text, "signature": thought.opaque["signature"]}
        yield {"type": "text", "text": message.text}
        for one in message.tool_calls:
            yield {"type": "tool_use", "id": one.id, "name": one.name, "input": arguments_object(one)}


def read(event: Any, reply: WireReply) -> Iterator[Delta]:
    refuse_error(event)
    match event.get("type"):
        case "message_start":
            _count(event.get("message") or {}, reply)
        case "content_block_start":
            _begin(event.get("content_block") or {}, reply)
        case "content_block_delta":
            yield from _grow(event.get("delta") or {}, reply)
        case "message_delta":
            _count(event, reply)
            reason = str((event.get("delta") or {}).get("stop_reason") or "stop")
            reply.finish = _FINISHES.get(reason, reason)
            reply.calls = [replace(one, arguments=_arguments(one.arguments)) for one in reply.calls]
        case _:
            return


def _arguments(given: Any) -> Any:
    return read_arguments(given) if isinstance(given, str) else given


def _count(holder: Mapping[str, Any], reply: WireReply) -> None:
    """What was read from a cache or written to one is input too; the end only tells the output."""
    usage = holder.get("usage")
    if not isinstance(usage, Mapping):
        return
    entered, cached = 0, 0
    if reply.usage is not None:
        entered, cached = reply.usage.input, reply.usage.cached
    if "input_tokens" in usage:
        names = ("input_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
        entered, cached = sum(number(usage, name) for name in names), number(usage, names[1])
    answered = number(usage, "output_tokens")
    reply.usage = Usage(input=entered, cached=cached, output=answered, total=entered + answered)


def _begin(block: Mapping[str, Any], reply: WireReply) -> None:
    match block.get("type"):
        case "tool_use":
            given = block.get("input") or ""
            reply.calls.append(ToolCall(id=str(block.get("id")), name=str(block.get("name")), arguments=given))
        case "thinking":
            reply.thoughts.append(Thought(text="", provider=PROVIDER))
        case "redacted_thinking":
            reply.thoughts.append(Thought(text="", provider=PROVIDER, opaque={"redacted_data": str(block.get("data"))}))
        case _:
            return


def _grow(delta: Mapping[str, Any], reply: WireReply) -> Iterator[Delta]:
    match delta.get("type"):
        case "text_delta":
            reply.text.append(text := str(delta["text"]))
            yield Text(text=text)
        case "input_json_delta" if reply.calls:
            last = reply.calls[-1]
            known = last.arguments if isinstance(last.arguments, str) else ""
            reply.calls[-1] = replace(last, arguments=known + str(delta["partial_json"]))
        case "thinking_delta" if reply.thoughts:
            last_thought = reply.thoughts[-1]
            reply.thoughts[-1] = replace(last_thought, text=last_thought.text + str(delta["thinking"]))
            yield Thinking(text=str(delta["thinking"]))
        case "signature_delta" if reply.thoughts:
            reply.thoughts[-1] = replace(reply.thoughts[-1], opaque={"signature": str(delta["signature"])})
        case _:
            return
