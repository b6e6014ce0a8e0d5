"""Anthropic Messages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hookline.llm.scripted.script import ParsedRequest, ScriptedTurn

NAME = "anthropic"


def parse_request(path: str, body: Mapping[str, Any]) -> ParsedRequest:
    del path
    choice = body.get("tool_choice") or {}
    formats = (body.get("output_format") or {}, (body.get("output_config") or {}).get("format") or {})
    return ParsedRequest(
        model=str(body.get("model", "scripted")),
        tools=tuple(str(tool["name"]) for tool in body.get("tools") or () if "name" in tool),
        forced=str(choice.get("name", "")),
        json_text=any(form.get("type") == "json_schema" for form in formats),
        stream=bool(body.get("stream")),
    )


def reply(request: ParsedRequest, turn: ScriptedTurn) -> Any:
    return {**_head(request, turn), "content": _blocks(turn), "stop_reason": _stop(turn)}


def stream(request: ParsedRequest, turn: ScriptedTurn) -> Iterable[tuple[str, Any]]:
    def event(kind: str, **fields: Any) -> tuple[str, Any]:
        return kind, {"type": kind, **fields}

    yield event("message_start", message={**_head(request, turn), "content": [], "stop_reason": None})
    for place, block in enumerate(_blocks(turn)):
        if block["type"] == "text":
            yield event("content_block_start", index=place, content_block={**block, "text": ""})
            deltas = [{"type": "text_delta", "text": piece} for piece in turn.pieces]
        else:
            yield event("content_block_start", index=place, content_block={**block, "input": {}})
            deltas = [{"type": "input_json_delta", "partial_json": json.dumps(block["input"], ensure_ascii=False)}]
        for delta in deltas:
            yield event("content_block_delta", index=place, delta=delta)
        yield event("content_block_stop", index=place)
    ended = {"stop_reason": _stop(turn), "stop_sequence": None}
    yield event("message_delta", delta=ended, usage={"output_tokens": turn.output_tokens})
    yield event("message_stop")


def error(status: int, message: str) -> Any:
    kinds = {401: "authentication_error", 429: "rate_limit_error", 529: "overloaded_error"}
    kind = kinds.get(status, "api_error" if status >= 500 else "invalid_request_error")
    return {"type": "error", "error": {"type": kind, "message": message}}


def _head(request: ParsedRequest, turn: ScriptedTurn) -> dict[str, Any]:
    usage = {
        "input_tokens": turn.input_tokens,
        "output_tokens": turn.output_tokens,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": turn.cached_tokens,
    }
    return {
        "id": f"msg_{turn.number}", "type": "message", "role": "assistant", "model": request.model,
        "stop_sequence": None, "usage": usage,
    }  # fmt: skip


def _stop(turn: ScriptedTurn) -> str:
    return "tool_use" if turn.calls else "end_turn"


def _blocks(turn: ScriptedTurn) -> list[dict[str, Any]]:
    text = [{"type": "text", "text": turn.text}] if turn.text or not turn.calls else []
    calls = [
        {"type": "tool_use", "id": f"toolu_{number}", "name": call.name, "input": call.arguments}
        for number, call in turn.numbered
    ]
    return text + calls
