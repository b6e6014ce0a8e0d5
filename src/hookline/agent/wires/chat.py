"""OpenAI's chat completions, which many servers speak."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from hookline.agent.message import AssistantMessage, Delta, Message, Text, Thinking, ToolCall, Usage, UserMessage
from hookline.agent.wires.base import (
    WireReply,
    WireRequest,
    arguments_text,
    number,
    read_arguments,
    refuse_error,
    results_first,
    tool_schema,
)
from hookline.core._dataclass import replace

PROVIDER = "openai"
_FINISHES = {"tool_calls": "tool_call", "function_call": "tool_call"}
#: How the names of models begin that take an effort.
REASONING = ("o1", "o3", "o4", "gpt-5")


def call(request: WireRequest, base_url: str | None, key: str) -> tuple[str, Mapping[str, str], Any]:
    settings, own = request.settings, request.provider == "openai"
    body: dict[str, Any] = {
        "model": request.model,
        "messages": [{"role": "system", "content": request.system}] if request.system else [],
        "stream": True,
        "stream_options": {"include_usage": True},
    }
    body["messages"] += [_message(one) for one in results_first(request.messages)]
    if request.tools:
        body["tools"] = [
            {"type": "function", "function": {"name": one.name, "description": one.description, "parameters": tool_schema(one)}}
            for one in request.tools
        ]  # fmt: skip
    if settings.max_tokens is not None:
        body["max_completion_tokens" if own else "max_tokens"] = settings.max_tokens
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if settings.thinking not in {None, "none"} and request.model.startswith(REASONING):
        body["reasoning_effort"] = settings.thinking
    url = f"{(base_url or 'https://api.openai.com/v1').rstrip('/')}/chat/completions"
    return url, {"Authorization": f"Bearer {key}"}, body


def _message(message: Message) -> dict[str, Any]:
    if isinstance(message, UserMessage):
        parts = message.parts
        return {
            "role": "user",
            "content": parts[0] if len(parts) == 1 else [{"type": "text", "text": one} for one in parts],
        }
    if not isinstance(message, AssistantMessage):
        return {"role": "tool", "tool_call_id": message.id, "content": message.content}
    calls = [
        {"id": one.id, "type": "function", "function": {"name": one.name, "arguments": arguments_text(one)}}
        for one in message.tool_calls
    ]
    head = {"role": "assistant", "content": message.text or None if calls else message.text}
    return {**head, "tool_calls": calls} if calls else head


def read(event: Any, reply: WireReply) -> Iterator[Delta]:
    refuse_error(event)
    if isinstance(usage := event.get("usage"), Mapping):
        entered, answered = number(usage, "prompt_tokens"), number(usage, "completion_tokens")
        cached = number(usage, "prompt_tokens_details", "cached_tokens")
        total = number(usage, "total_tokens") or entered + answered
        reply.usage = Usage(input=entered, cached=cached, output=answered, total=total)
    for choice in event.get("choices") or ():
        delta = choice.get("delta") or {}
        if text := delta.get("content"):
            reply.text.append(text)
            yield Text(text=text)
        if thought := delta.get("reasoning_content") or delta.get("reasoning"):
            yield Thinking(text=str(thought))
        for part in delta.get("tool_calls") or ():
            _call(part, reply)
        if reason := choice.get("finish_reason"):
            reply.finish = _FINISHES.get(reason) or str(reason)
            reply.calls = [replace(one, arguments=read_arguments(one.arguments)) for one in reply.calls]


def _call(part: Mapping[str, Any], reply: WireReply) -> None:
    """Name and id come once, arguments in pieces of text."""
    place = number(part, "index")
    while len(reply.calls) <= place:
        reply.calls.append(ToolCall(id="", name="", arguments=""))
    given, known = part.get("function") or {}, reply.calls[place]
    reply.calls[place] = ToolCall(
        id=known.id or str(part.get("id") or f"call_{place}"),
        name=known.name or str(given.get("name") or ""),
        arguments=str(known.arguments) + str(given.get("arguments") or ""),
    )
