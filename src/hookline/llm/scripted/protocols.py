"""The wire protocols, and how a request is matched to one."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol

from hookline.llm.scripted import anthropic, gemini, openai_chat, openai_responses
from hookline.llm.scripted.script import ParsedRequest, ScriptedTurn


class WireProtocol(Protocol):
    """A module with one provider's formats: pure functions between JSON and the values of ``script``."""

    @property
    def NAME(self) -> str: ...  # noqa: N802  a constant of the module

    def parse_request(self, path: str, body: Mapping[str, Any], /) -> ParsedRequest: ...

    def reply(self, request: ParsedRequest, turn: ScriptedTurn, /) -> Any: ...

    def stream(self, request: ParsedRequest, turn: ScriptedTurn, /) -> Iterable[tuple[str, Any]]:
        """The events of a stream: (event name or "", data). Data that are text are sent as they are."""
        ...

    def error(self, status: int, message: str, /) -> Any: ...


_BY_PATH: tuple[tuple[tuple[str, ...], WireProtocol], ...] = (
    (("/chat/completions",), openai_chat),
    (("/responses",), openai_responses),
    (("/messages",), anthropic),
    ((":generateContent", ":streamGenerateContent"), gemini),
)


def find_protocol(path: str) -> WireProtocol | None:
    """By the end of the path, so that any base URL may come before it."""
    return next((protocol for endings, protocol in _BY_PATH if path.endswith(endings)), None)


def answer_query(path: str, size: int) -> Any | None:
    """Other requests of clients: how many tokens, which models."""
    if path.endswith("/count_tokens"):
        return {"input_tokens": max(1, size // 4)}
    if path.endswith(":countTokens"):
        return {"totalTokens": max(1, size // 4)}
    if path.endswith("/models"):
        names = {"id": "scripted", "display_name": "scripted", "name": "models/scripted"}
        model = {**names, "object": "model", "type": "model"}
        return {"object": "list", "data": [model], "models": [model], "has_more": False}
    return None
