"""OpenAI Responses."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable, Mapping
from typing import Any

from hookline.llm.scripted.script import ParsedRequest, ScriptedTurn

NAME = "openai-responses"


def parse_request(path: str, body: Mapping[str, Any]) -> ParsedRequest:
    del path
    choice = body.get("tool_choice")
    return ParsedRequest(
        model=str(body.get("model", "scripted")),
        tools=tuple(str(tool["name"]) for tool in body.get("tools") or () if "name" in tool),
        forced=str(choice.get("name", "")) if isinstance(choice, dict) else "",
        json_text=((body.get("text") or {}).get("format") or {}).get("type") in {"json_schema", "json_object"},
        stream=bool(body.get("stream")),
    )


def reply(request: ParsedRequest, turn: ScriptedTurn) -> Any:
    return _response(request, turn, status="completed", output=_items(turn))


def stream(request: ParsedRequest, turn: ScriptedTurn) -> Iterable[tuple[str, Any]]:
    count = itertools.count()

    def event(kind: str, **fields: Any) -> tuple[str, Any]:
        return kind, {"type": kind, "sequence_number": next(count), **fields}

    begun = _response(request, turn, status="in_progress", output=[])
    yield event("response.created", response={**begun, "usage": None})
    for place, item in enumerate(_items(turn)):
        where = {"item_id": item["id"], "output_index": place}
        if item["type"] == "message":
            part = {"type": "output_text", "text": "", "annotations": []}
            begun_item = {**item, "content": [], "status": "in_progress"}
            yield event("response.output_item.added", output_index=place, item=begun_item)
            yield event("response.content_part.added", **where, content_index=0, part=part)
            for piece in turn.pieces:
                yield event("response.output_text.delta", **where, content_index=0, delta=piece, logprobs=[])
            yield event("response.output_text.done", **where, content_index=0, text=turn.text, logprobs=[])
            yield event("response.content_part.done", **where, content_index=0, part={**part, "text": turn.text})
        else:
            begun_item = {**item, "arguments": "", "status": "in_progress"}
            yield event("response.output_item.added", output_index=place, item=begun_item)
            yield event("response.function_call_arguments.delta", **where, delta=item["arguments"])
            done = {"name": item["name"], "arguments": item["arguments"]}
            yield event("response.function_call_arguments.done", **where, **done)
        yield event("response.output_item.done", output_index=place, item=item)
    yield event("response.completed", response=reply(request, turn))


def error(status: int, message: str) -> Any:
    kind = "server_error" if status >= 500 else "invalid_request_error"
    return {"error": {"message": message, "type": kind, "code": None}}


def _items(turn: ScriptedTurn) -> list[dict[str, Any]]:
    items: list[dict[str, Any]] = []
    if turn.text or not turn.calls:
        content = [{"type": "output_text", "text": turn.text, "annotations": [], "logprobs": []}]
        head = {"type": "message", "id": f"msg_{turn.number}", "role": "assistant", "status": "completed"}
        items.append({**head, "content": content})
    for number, call in turn.numbered:
        arguments = json.dumps(call.arguments, ensure_ascii=False)
        names = {"id": f"fc_{number}", "call_id": f"call_{number}", "name": call.name}
        names |= {"namespace": call.namespace} if call.namespace else {}
        items.append({"type": "function_call", **names, "arguments": arguments, "status": "completed"})
    return items


def _response(
    request: ParsedRequest, turn: ScriptedTurn, *, status: str, output: list[dict[str, Any]]
) -> dict[str, Any]:
    usage = {
        "input_tokens": turn.input_tokens,
        "input_tokens_details": {"cached_tokens": turn.cached_tokens},
        "output_tokens": turn.output_tokens,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": turn.input_tokens + turn.output_tokens,
    }
    return {
        "id": f"resp_{turn.number}", "object": "response", "created_at": 0, "model": request.model, "status": status,
        "output": output, "usage": usage, "error": None, "incomplete_details": None, "instructions": None,
        "metadata": {}, "parallel_tool_calls": True, "temperature": None, "top_p": None, "tool_choice": "auto", "tools": [],
    }  # fmt: skip
