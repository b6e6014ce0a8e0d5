"""Gemini's streamGenerateContent."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Mapping
from typing import Any
from urllib.parse import quote

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
    refuse_error,
    results_first,
    tool_schema,
)

PROVIDER = "gemini"
_FINISHES = {"STOP": "stop", "MAX_TOKENS": "length"}
_LEVELS = {"none": "MINIMAL", "low": "LOW", "medium": "MEDIUM", "high": "HIGH"}


def call(request: WireRequest, base_url: str | None, key: str) -> tuple[str, Mapping[str, str], Any]:
    settings = request.settings
    body: dict[str, Any] = {"contents": _contents(request)}
    if request.system:
        body["systemInstruction"] = {"parts": [{"text": request.system}]}
    if request.tools:
        functions = [
            {"name": one.name, "description": one.description, "parametersJsonSchema": tool_schema(one)}
            for one in request.tools
        ]
        body["tools"] = [{"functionDeclarations": functions}]
    config: dict[str, Any] = {"maxOutputTokens": settings.max_tokens, "temperature": settings.temperature}
    if settings.thinking in _LEVELS:
        level = _LEVELS[settings.thinking]
        config["thinkingConfig"] = {"thinkingLevel": level, "includeThoughts": level != "MINIMAL"}
    if config := {name: value for name, value in config.items() if value is not None}:
        body["generationConfig"] = config
    base = (base_url or "https://generativelanguage.googleapis.com").rstrip("/")
    url = f"{base}/v1beta/models/{quote(request.model)}:streamGenerateContent?alt=sse"
    return url, {"x-goog-api-key": key}, body


def _contents(request: WireRequest) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for message in results_first(request.messages):
        role = "model" if isinstance(message, AssistantMessage) else "user"
        parts = list(_parts(message))
        if found and found[-1]["role"] == role:
            found[-1]["parts"] += parts
        elif parts:
            found.append({"role": role, "parts": parts})
    return found


def _parts(message: Message) -> Iterator[dict[str, Any]]:
    if isinstance(message, UserMessage):
        yield from ({"text": one} for one in message.parts)
    elif not isinstance(message, AssistantMessage):
        response = {"error" if message.is_error else "output": message.content}
        yield {"functionResponse": {"name": message.name, "response": response}}
    else:
        own = [thought.opaque for thought in message.thinking if thought.provider == PROVIDER]
        seals = [{"thoughtSignature": opaque["signature"]} for opaque in own if "signature" in opaque]
        if message.text or not message.tool_calls:
            yield {"text": message.text, **(seals.pop(0) if seals and not message.tool_calls else {})}
        for one in message.tool_calls:
            asked = {"functionCall": {"name": one.name, "args": arguments_object(one)}}
            yield {**asked, **(seals.pop(0) if seals else {})}


def read(event: Any, reply: WireReply) -> Iterator[Delta]:
    refuse_error(event)
    if isinstance(usage := event.get("usageMetadata"), Mapping):
        reply.usage = Usage(
            input=number(usage, "promptTokenCount"),
            cached=number(usage, "cachedContentTokenCount"),
            output=number(usage, "candidatesTokenCount") + number(usage, "thoughtsTokenCount"),
            total=number(usage, "totalTokenCount"),
        )
    if why := (event.get("promptFeedback") or {}).get("blockReason"):
        reply.finish = "content_filter"
        reply.text.append(f"[the provider refused the prompt: {why}]")
    for candidate in event.get("candidates") or ():
        for part in (candidate.get("content") or {}).get("parts") or ():
            yield from _part(part, reply)
        if reason := candidate.get("finishReason"):
            reply.finish = "tool_call" if reply.calls else _FINISHES.get(reason, "content_filter")


def _part(part: Mapping[str, Any], reply: WireReply) -> Iterator[Delta]:
    """The seal of a part is kept as a thought of its own, and goes back with the same part."""
    if part.get("thought"):
        yield Thinking(text=str(part.get("text") or ""))
        reply.thoughts.append(Thought(text=str(part.get("text") or ""), provider=PROVIDER))
    elif text := part.get("text"):
        reply.text.append(str(text))
        yield Text(text=str(text))
    if isinstance(asked := part.get("functionCall"), Mapping):
        name, given = str(asked.get("name")), asked.get("args")
        reply.calls.append(ToolCall(id=str(asked.get("id") or uuid.uuid4()), name=name, arguments=given or {}))
    if seal := part.get("thoughtSignature"):
        reply.thoughts.append(Thought(text="", provider=PROVIDER, opaque={"signature": str(seal)}))
