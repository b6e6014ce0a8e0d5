"""One request to a model, streamed. The only module of this package that knows pydantic-ai.

``open_model`` opens a model once for a whole run or session (one HTTP client, one scripted server that keeps its
place in the script); ``ModelClient.converse`` is one request.

Every failure is a ``ModelError`` with a text for people; keys never appear in it. A consumer
that stops early must close the iterator (``contextlib.aclosing``), which ends the request.
"""

from __future__ import annotations

import json
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from hookline.agent.message import (
    AssistantMessage,
    Delta,
    Done,
    Message,
    Text,
    Thinking,
    Thought,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
    UserMessage,
)
from hookline.core._dataclass import dataclass, empty, field
from hookline.llm.names import ModelError

if TYPE_CHECKING:
    from hookline.llm.client import OpenClient

#: Providers whose protocol has a mark for a failed call. For the others the text would be wrapped in JSON.
_MARKS_ERRORS = ("anthropic:", "google:")

__all__ = ["ModelClient", "ModelError", "ModelSettings", "open_model"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What the user may tune; None leaves it to the provider. ``thinking``: none, low, medium or high."""

    max_tokens: int | None = None
    temperature: float | None = None
    thinking: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelClient:
    """An opened model. ``name`` is ``provider:model``, ``model`` the model's own name."""

    door: OpenClient = field(repr=False)

    @property
    def name(self) -> str:
        return self.door.name

    @property
    def model(self) -> str:
        return self.door.name.partition(":")[2]

    @property
    def provider(self) -> str:
        """The provider that gets its own reasoning back."""
        return str(self.door.model.system)

    async def converse(
        self,
        messages: Sequence[Message],
        tools: Sequence[ToolSpec] = (),
        *,
        system: str = "",
        settings: ModelSettings | None = None,
    ) -> AsyncGenerator[Delta]:
        """One request. Text and thoughts come as they are streamed; ``Done`` comes last and has the tool calls."""
        from pydantic_ai.direct import model_request_stream  # slow to import
        from pydantic_ai.models import ModelRequestParameters

        from hookline.llm.requests import explain

        try:
            request = model_request_stream(
                self.door.model,
                _sent(messages, system, marks_errors=self.name.startswith(_MARKS_ERRORS)),
                model_settings=_tuned(settings or ModelSettings()),  # type: ignore[arg-type]  # a TypedDict, built in steps
                model_request_parameters=ModelRequestParameters(function_tools=[_tool(tool) for tool in tools]),
            )
            async with request as stream:
                async for event in stream:
                    for delta in _deltas(event):
                        yield delta
                response = stream.get()
        except Exception as error:
            raise ModelError(explain(error, self.door)) from error
        for delta in _concluded(response):
            yield delta


@asynccontextmanager
async def open_model(
    name: str, *, environ: Mapping[str, str], table: Mapping[str, str] | None = None
) -> AsyncGenerator[ModelClient]:
    """``name`` as ``hookline.llm.names`` reads it (``provider:model``, a short name, ``script:FILE``, "" for
    the first provider with a key); ``table`` is the ``[models]`` table."""
    from hookline.llm.client import open_client  # slow to import

    async with open_client(name, table or {}, environ) as door:
        yield ModelClient(door=door)


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


def _sent(messages: Sequence[Message], system: str, *, marks_errors: bool) -> list[Any]:
    """As messages of pydantic-ai. Results and user texts between two replies are one request, results first:
    providers refuse a call whose result does not follow at once."""
    from pydantic_ai.messages import ModelRequest, ModelResponse

    sent: list[Any] = []
    waiting: list[Any] = []

    def flush() -> None:
        if waiting:
            ordered = sorted(waiting, key=lambda part: part.part_kind != "tool-return")
            sent.append(ModelRequest(parts=ordered))
            waiting.clear()

    for message in messages:
        if isinstance(message, AssistantMessage):
            flush()
            sent.append(ModelResponse(parts=list(_response_parts(message))))
        else:
            waiting.append(_request_part(message, marks_errors=marks_errors))
    flush()
    if not sent or sent[-1].kind == "response":
        sent.append(ModelRequest(parts=[]))
    sent[-1].instructions = system or None
    return sent


def _request_part(message: UserMessage | ToolResult, *, marks_errors: bool) -> Any:
    from pydantic_ai.messages import ToolReturnPart, UserPromptPart

    if isinstance(message, UserMessage):
        return UserPromptPart(content=message.parts[0] if len(message.parts) == 1 else list(message.parts))
    return ToolReturnPart(
        tool_name=message.name,
        content=message.content,
        tool_call_id=message.id,
        outcome="failed" if message.is_error and marks_errors else "success",
    )


def _response_parts(message: AssistantMessage) -> Iterable[Any]:
    from pydantic_ai.messages import TextPart, ThinkingPart, ToolCallPart

    for thought in message.thinking:
        yield ThinkingPart(
            content=thought.text,
            id=thought.opaque.get("id"),
            signature=thought.opaque.get("signature"),
            provider_name=thought.provider or None,
        )
    if message.text or not message.tool_calls:
        yield TextPart(content=message.text)
    for call in message.tool_calls:
        arguments = call.arguments if isinstance(call.arguments, dict | str) else json.dumps(call.arguments)
        yield ToolCallPart(tool_name=call.name, args=arguments, tool_call_id=call.id)


def _tool(tool: ToolSpec) -> Any:
    from pydantic_ai.tools import ToolDefinition

    schema = dict(tool.parameters) or {"type": "object", "properties": {}}
    return ToolDefinition(name=tool.name, description=tool.description or None, parameters_json_schema=schema)


def _tuned(settings: ModelSettings) -> dict[str, Any]:
    """No silent retries: the user sees what went wrong and asks again."""
    tuned: dict[str, Any] = {"max_retries": 0}
    if settings.max_tokens is not None:
        tuned["max_tokens"] = settings.max_tokens
    if settings.temperature is not None:
        tuned["temperature"] = settings.temperature
    if settings.thinking is not None:
        tuned["thinking"] = False if settings.thinking == "none" else settings.thinking
    return tuned


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────


def _deltas(event: Any) -> Iterable[Delta]:
    """The text or thought in one event of the stream."""
    kind, text = "", None
    if event.event_kind == "part_start":
        kind, text = event.part.part_kind, getattr(event.part, "content", None)
    elif event.event_kind == "part_delta":
        kind, text = event.delta.part_delta_kind, getattr(event.delta, "content_delta", None)
    if isinstance(text, str) and text:
        if kind == "text":
            yield Text(text=text)
        elif kind == "thinking":
            yield Thinking(text=text)


def _thought(part: Any) -> Thought:
    opaque = {key: value for key, value in (("id", part.id), ("signature", part.signature)) if value}
    return Thought(text=part.content, provider=part.provider_name or "", opaque=opaque or empty())


def _call(part: Any) -> ToolCall:
    return ToolCall(id=part.tool_call_id, name=part.tool_name, arguments=_arguments(part.args))


def _arguments(given: Any) -> Any:
    """Models leave the arguments out when a tool needs none, and now and then write no JSON at all."""
    if given is None or given == "":
        return {}
    if not isinstance(given, str):
        return given
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def _concluded(response: Any) -> Iterable[Delta]:
    usage = response.usage
    if usage.has_values():
        total = usage.input_tokens + usage.output_tokens
        yield Usage(input=usage.input_tokens, cached=usage.cache_read_tokens, output=usage.output_tokens, total=total)
    parts = response.parts
    message = AssistantMessage(
        text="".join(part.content for part in parts if part.part_kind == "text"),
        thinking=tuple(_thought(part) for part in parts if part.part_kind == "thinking"),
        tool_calls=tuple(_call(part) for part in parts if part.part_kind == "tool-call"),
    )
    yield Done(message=message, finish_reason=response.finish_reason or "")
