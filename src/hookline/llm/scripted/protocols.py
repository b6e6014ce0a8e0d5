"""The table of wire protocols, and how a request is told to be one of them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from hookline.core._dataclass import dataclass
from hookline.llm.scripted import anthropic, gemini, openai_chat, openai_responses
from hookline.llm.scripted.script import Asked, Turn

Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One provider's shapes: pure functions between JSON and the words of ``script``."""

    name: str
    #: ``asked(path, body)`` reads a request.
    asked: Callable[[str, Body], Asked]
    reply: Callable[[Asked, Turn], Any]
    #: The events of a stream: (event name or "", data); data that are text are sent as they are.
    stream: Callable[[Asked, Turn], Iterable[tuple[str, Any]]]
    error: Callable[[int, str], Any]


PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        module.NAME: Protocol(
            name=module.NAME, asked=module.asked, reply=module.reply, stream=module.stream, error=module.error
        )
        for module in (openai_chat, openai_responses, anthropic, gemini)
    }
)


def protocol_of(path: str) -> Protocol | None:
    """By the end of the path, so that any base URL may stand before it."""
    if path.endswith("/chat/completions"):
        return PROTOCOLS[openai_chat.NAME]
    if path.endswith("/responses"):
        return PROTOCOLS[openai_responses.NAME]
    if path.endswith("/messages"):
        return PROTOCOLS[anthropic.NAME]
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return PROTOCOLS[gemini.NAME]
    return None


def aside(path: str, size: int) -> Any | None:
    """Questions beside the conversation that clients ask: how many tokens, which models."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": max(1, size // 4)}
    if path.endswith(":countTokens"):
        return {"totalTokens": max(1, size // 4)}
    if path.endswith("/models"):
        model = {
            "id": "scripted",
            "object": "model",
            "type": "model",
            "display_name": "scripted",
            "name": "models/scripted",
        }
        return {"object": "list", "data": [model], "models": [model], "has_more": False}
    return None
