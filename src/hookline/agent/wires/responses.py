"""OpenAI's responses."""

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
    arguments_text,
    number,
    read_arguments,
    refuse_error,
    results_first,
    tool_schema,
)
from hookline.agent.wires.chat import REASONING
from hookline.llm.http import StatusError

PROVIDER = "openai"
_INCOMPLETE = {"max_output_tokens": "length", "content_filter": "content_filter"}
_THOUGHTS = frozenset({"response.reasoning_summary_text.delta", "response.reasoning_text.delta"})
_ENDS = frozenset({"response.completed", "response.incomplete", "response.failed"})


def call(request: WireRequest, base_url: str | None, key: str) -> tuple[str, Mapping[str, str], Any]:
    """Nothing is stored there: the conversation is kept here, and reasoning comes back in a sealed form."""
    settings = request.settings
    body: dict[str, Any] = {
        "model": request.model,
        "instructions": request.system or None,
        "input": [item for one in results_first(request.messages) for item in _items(one)],
        "stream": True,
        "store": False,
    }
    if request.tools:
        body["tools"] = [
            {"type": "function", "name": one.name, "description": one.description, "parameters": tool_schema(one), "strict": False}
            for one in request.tools
        ]  # fmt: skip
    if settings.max_tokens is not None:
        body["max_output_tokens"] = settings.max_tokens
    if settings.temperature is not None:
        body["temperature"] = settings.temperature
    if request.model.startswith(REASONING):
        body["include"] = ["reasoning.encrypted_content"]
        if settings.thinking is not None:
            body["reasoning"] = {"effort": settings.thinking}
    url = f"{(base_url or 'https://api.openai.com/v1').rstrip('/')}/responses"
    return url, {"Authorization": f"Bearer {key}"}, body


def _items(message: Message) -> Iterator[dict[str, Any]]:
    if isinstance(message, UserMessage):
        parts = message.parts
        yield {
            "role": "user",
            "content": parts[0] if len(parts) == 1 else [{"type": "input_text", "text": one} for one in parts],
        }  # fmt: skip
    elif not isinstance(message, AssistantMessage):
        yield {"type": "function_call_output", "call_id": message.id, "output": message.content}
    else:
        for thought in message.thinking:
            if thought.provider == PROVIDER and thought.opaque.get("signature"):
                summary = [{"type": "summary_text", "text": thought.text}] if thought.text else []
                sealed = {"id": thought.opaque.get("id"), "encrypted_content": thought.opaque["signature"]}
                yield {"type": "reasoning", "summary": summary, **sealed}
        if message.text or not message.tool_calls:
            yield {"role": "assistant", "content": message.text}
        for one in message.tool_calls:
            yield {"type": "function_call", "call_id": one.id, "name": one.name, "arguments": arguments_text(one)}


def read(event: Any, reply: WireReply) -> Iterator[Delta]:
    refuse_error(event)
    kind = event.get("type")
    if kind == "error":
        raise StatusError(500, event)
    if kind == "response.output_text.delta":
        yield Text(text=str(event["delta"]))
    elif kind in _THOUGHTS:
        yield Thinking(text=str(event["delta"]))
    elif kind == "response.output_item.done":
        _item(event.get("item") or {}, reply)
    elif kind in _ENDS:
        _end(event.get("response") or {}, reply)


def _item(item: Mapping[str, Any], reply: WireReply) -> None:
    match item.get("type"):
        case "message":
            reply.text += [str(part.get("text") or part.get("refusal") or "") for part in item.get("content") or ()]
        case "function_call":
            arguments = read_arguments(str(item.get("arguments") or ""))
            reply.calls.append(ToolCall(id=str(item.get("call_id")), name=str(item.get("name")), arguments=arguments))
        case "reasoning":
            text = "\n\n".join(str(part.get("text") or "") for part in item.get("summary") or ())
            given = {"id": item.get("id"), "signature": item.get("encrypted_content")}
            opaque = {key: str(value) for key, value in given.items() if value}
            reply.thoughts.append(Thought(text=text, provider=PROVIDER, opaque=opaque))
        case _:
            return


def _end(response: Mapping[str, Any], reply: WireReply) -> None:
    if response.get("status") == "failed":
        raise StatusError(500, response)
    if isinstance(usage := response.get("usage"), Mapping):
        reply.usage = Usage(
            input=number(usage, "input_tokens"),
            cached=number(usage, "input_tokens_details", "cached_tokens"),
            output=number(usage, "output_tokens"),
            total=number(usage, "total_tokens"),
        )
    why = (response.get("incomplete_details") or {}).get("reason")
    reply.finish = _INCOMPLETE.get(str(why), str(why)) if why else "tool_call" if reply.calls else "stop"
