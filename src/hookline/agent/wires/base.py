"""What all protocols share: a request, and a reply that grows while it is streamed."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Protocol

from hookline.agent.message import (
    AssistantMessage,
    Delta,
    Done,
    Message,
    Thought,
    ToolCall,
    ToolResult,
    ToolSpec,
    Usage,
)
from hookline.core._dataclass import dataclass, field
from hookline.llm.http import StatusError
from hookline.llm.names import ModelError


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelSettings:
    """What the user may tune; None leaves it to the provider. ``thinking``: none, low, medium or high."""

    max_tokens: int | None = None
    temperature: float | None = None
    thinking: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class WireRequest:
    """One request, in our words."""

    model: str
    #: As ``hookline.llm.names`` calls it.
    provider: str
    messages: Sequence[Message]
    tools: Sequence[ToolSpec] = ()
    system: str = ""
    settings: ModelSettings = ModelSettings()


@dataclass(slots=True, kw_only=True)
class WireReply:
    """What has come of a reply. ``finish`` is "" until the provider says that it is complete."""

    provider: str
    text: list[str] = field(default_factory=list)
    thoughts: list[Thought] = field(default_factory=list)
    calls: list[ToolCall] = field(default_factory=list)
    usage: Usage | None = None
    finish: str = ""

    def conclude(self) -> Iterator[Delta]:
        if not self.finish:
            raise ModelError("the answer ended before it was complete")
        if self.usage is not None:
            yield self.usage
        message = AssistantMessage(
            text="".join(self.text), thinking=tuple(self.thoughts), tool_calls=tuple(self.calls)
        )  # fmt: skip
        yield Done(message=message, finish_reason=self.finish)


class Wire(Protocol):
    """A module of this package."""

    #: What the reasoning of this provider is marked with; it gets back its own only.
    PROVIDER: str

    def call(self, request: WireRequest, base_url: str | None, key: str) -> tuple[str, Mapping[str, str], Any]:
        """URL, headers and body."""
        ...

    def read(self, event: Any, reply: WireReply) -> Iterator[Delta]:
        """Take in one event, and give the text or thought in it."""
        ...


def results_first(messages: Sequence[Message]) -> Iterator[Message]:
    """Results before the user's texts between two replies: providers refuse a call whose result does not follow at once."""
    waiting: list[Message] = []
    for message in messages:
        if isinstance(message, AssistantMessage):
            yield from sorted(waiting, key=lambda one: not isinstance(one, ToolResult))
            waiting.clear()
            yield message
        else:
            waiting.append(message)
    yield from sorted(waiting, key=lambda one: not isinstance(one, ToolResult))


def tool_schema(tool: ToolSpec) -> dict[str, Any]:
    return dict(tool.parameters) or {"type": "object", "properties": {}}


def arguments_text(call: ToolCall) -> str:
    return call.arguments if isinstance(call.arguments, str) else json.dumps(call.arguments, ensure_ascii=False)


def arguments_object(call: ToolCall) -> dict[str, Any]:
    """For protocols that take nothing else."""
    return dict(call.arguments) if isinstance(call.arguments, Mapping) else {}


def read_arguments(given: str) -> Any:
    """Models leave the arguments out when a tool needs none, and now and then write no JSON at all."""
    if not given:
        return {}
    try:
        return json.loads(given)
    except (ValueError, RecursionError):
        return given


def number(table: Any, *names: str) -> int:
    for name in names:
        table = table.get(name) if isinstance(table, Mapping) else None
    return table if isinstance(table, int) else 0


def refuse_error(event: Any) -> None:
    """An error in the middle of a stream."""
    if not isinstance(event, Mapping):
        raise ModelError(f"the server sent {str(event)[:200]!r} instead of an object")
    error = event.get("error")
    if error:
        raise StatusError(number(error, "code") or 500, event)
