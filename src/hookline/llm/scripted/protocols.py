"""The table of wire protocols, and how a request is matched to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any, TypeAlias

from hookline.core._dataclass import dataclass
from hookline.llm.scripted import anthropic, gemini, openai_chat, openai_responses
from hookline.llm.scripted.script import ParsedRequest, ScriptedTurn

_Body: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Protocol:
    """One provider's shapes: pure functions between JSON and the words of ``script``."""

    name: str
    #: Reads a request from its path and body.
    parse_request: Callable[[str, _Body], ParsedRequest]
    reply: Callable[[ParsedRequest, ScriptedTurn], Any]
    #: The events of a stream: (event name or "", data); data that are text are sent as they are.
    stream: Callable[[ParsedRequest, ScriptedTurn], Iterable[tuple[str, Any]]]
    error: Callable[[int, str], Any]


_PROTOCOLS: Mapping[str, Protocol] = MappingProxyType(
    {
        module.NAME: Protocol(
            name=module.NAME,
            parse_request=module.parse_request,
            reply=module.reply,
            stream=module.stream,
            error=module.error,
        )
        for module in (openai_chat, openai_responses, anthropic, gemini)
    }
)


def find_protocol(path: str) -> Protocol | None:
    """By the end of the path, so that any base URL may come before it."""
    if path.endswith("/chat/completions"):
        return _PROTOCOLS[openai_chat.NAME]
    if path.endswith("/responses"):
        return _PROTOCOLS[openai_responses.NAME]
    if path.endswith("/messages"):
        return _PROTOCOLS[anthropic.NAME]
    if path.endswith((":generateContent", ":streamGenerateContent")):
        return _PROTOCOLS[gemini.NAME]
    return None


def answer_query(path: str, size: int) -> Any | None:
    """Other requests of clients: how many tokens, which models."""
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
