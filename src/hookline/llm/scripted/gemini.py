"""Gemini generateContent and streamGenerateContent."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hookline.llm.scripted.script import ParsedRequest, ScriptedTurn

NAME = "gemini"


def parse_request(path: str, body: Mapping[str, Any]) -> ParsedRequest:
    config = body.get("generationConfig") or {}
    functions = [function for tool in body.get("tools") or () for function in tool.get("functionDeclarations") or ()]
    calling = (body.get("toolConfig") or {}).get("functionCallingConfig") or {}
    allowed = calling.get("allowedFunctionNames") or [""]
    return ParsedRequest(
        model=path.rpartition("/")[2].partition(":")[0],
        tools=tuple(str(function["name"]) for function in functions),
        forced=str(allowed[0]) if len(allowed) == 1 else "",
        json_text=bool(config.get("responseSchema") or config.get("responseJsonSchema")),
        stream=path.endswith(":streamGenerateContent"),
    )


def reply(request: ParsedRequest, turn: ScriptedTurn) -> Any:
    text = [{"text": turn.text}] if turn.text or not turn.calls else []
    return _answer(request, turn, [*text, *_calls(turn)], finish="STOP")


def stream(request: ParsedRequest, turn: ScriptedTurn) -> Iterable[tuple[str, Any]]:
    for piece in turn.pieces:
        yield "", _answer(request, turn, [{"text": piece}])
    yield "", _answer(request, turn, _calls(turn) or [{"text": ""}], finish="STOP")


def error(status: int, message: str) -> Any:
    kinds = {400: "INVALID_ARGUMENT", 401: "UNAUTHENTICATED", 403: "PERMISSION_DENIED", 429: "RESOURCE_EXHAUSTED"}
    return {"error": {"code": status, "message": message, "status": kinds.get(status, "INTERNAL")}}


def _calls(turn: ScriptedTurn) -> list[dict[str, Any]]:
    return [{"functionCall": {"name": call.name, "args": call.arguments}} for call in turn.calls]


def _answer(
    request: ParsedRequest, turn: ScriptedTurn, parts: list[dict[str, Any]], finish: str = ""
) -> dict[str, Any]:
    candidate: dict[str, Any] = {"index": 0, "content": {"role": "model", "parts": parts}}
    if finish:
        candidate["finishReason"] = finish
    usage = {
        "promptTokenCount": turn.input_tokens,
        "candidatesTokenCount": turn.output_tokens,
        "totalTokenCount": turn.input_tokens + turn.output_tokens,
        "cachedContentTokenCount": turn.cached_tokens,
    }
    return {
        "candidates": [candidate],
        "usageMetadata": usage,
        "modelVersion": request.model,
        "responseId": f"scripted-{turn.number}",
    }
