"""OpenAI chat completions."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from hookline.llm.scripted.script import ParsedRequest, ScriptedCall, ScriptedTurn

NAME = "openai-chat"


def parse_request(path: str, body: Mapping[str, Any]) -> ParsedRequest:
    del path
    choice = body.get("tool_choice")
    forced = choice.get("function", {}).get("name", "") if isinstance(choice, dict) else ""
    return ParsedRequest(
        model=str(body.get("model", "scripted")),
        tools=tuple(tool["function"]["name"] for tool in body.get("tools") or () if "function" in tool),
        forced=forced,
        json_text=(body.get("response_format") or {}).get("type") in {"json_schema", "json_object"},
        stream=bool(body.get("stream")),
        stream_usage=bool((body.get("stream_options") or {}).get("include_usage")),
    )


def reply(request: ParsedRequest, turn: ScriptedTurn) -> Any:
    message: dict[str, Any] = {"role": "assistant", "content": turn.text or None}
    if turn.calls:
        message["tool_calls"] = [_call(number, call) for number, call in turn.numbered]
    choice = {"index": 0, "message": message, "finish_reason": _finish(turn), "logprobs": None}
    return {**_head(request, turn, "chat.completion"), "choices": [choice], "usage": _usage(turn)}


def stream(request: ParsedRequest, turn: ScriptedTurn) -> Iterable[tuple[str, Any]]:
    def chunk(delta: Mapping[str, Any], finish: str | None = None) -> tuple[str, Any]:
        choice = {"index": 0, "delta": delta, "finish_reason": finish}
        return "", {**_head(request, turn, "chat.completion.chunk"), "choices": [choice]}

    yield chunk({"role": "assistant", "content": ""})
    for piece in turn.pieces:
        yield chunk({"content": piece})
    for place, (number, call) in enumerate(turn.numbered):
        whole = _call(number, call)
        arguments = whole["function"]["arguments"]
        start = {**whole, "index": place, "function": {"name": call.name, "arguments": arguments[:8]}}
        yield chunk({"tool_calls": [start]})
        yield chunk({"tool_calls": [{"index": place, "function": {"arguments": arguments[8:]}}]})
    yield chunk({}, _finish(turn))
    if request.stream_usage:
        yield "", {**_head(request, turn, "chat.completion.chunk"), "choices": [], "usage": _usage(turn)}
    yield "", "[DONE]"


def error(status: int, message: str) -> Any:
    return {"error": {"message": message, "type": "server_error" if status >= 500 else "invalid_request_error"}}


def _head(request: ParsedRequest, turn: ScriptedTurn, kind: str) -> dict[str, Any]:
    return {"id": f"chatcmpl-{turn.number}", "object": kind, "created": 0, "model": request.model}


def _finish(turn: ScriptedTurn) -> str:
    return "tool_calls" if turn.calls else "stop"


def _call(number: int, call: ScriptedCall) -> dict[str, Any]:
    function = {"name": call.name, "arguments": json.dumps(call.arguments, ensure_ascii=False)}
    return {"id": f"call_{number}", "type": "function", "function": function}


def _usage(turn: ScriptedTurn) -> dict[str, Any]:
    return {
        "prompt_tokens": turn.input_tokens,
        "completion_tokens": turn.output_tokens,
        "total_tokens": turn.input_tokens + turn.output_tokens,
        "prompt_tokens_details": {"cached_tokens": turn.cached_tokens},
    }
