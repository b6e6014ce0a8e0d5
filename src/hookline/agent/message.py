"""Messages between the user, a model and its tools, independent of any SDK."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeAlias

from hookline.core._dataclass import dataclass, empty, field


@dataclass(frozen=True, slots=True, kw_only=True)
class UserMessage:
    """Several texts are sent as parts of one message."""

    parts: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Thought:
    """The model's reasoning. ``opaque`` goes back unchanged, to the same provider only."""

    text: str
    provider: str = ""
    opaque: Mapping[str, str] = field(default_factory=empty, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolCall:
    """``arguments`` is what the model sent: usually an object; text that is not JSON stays text."""

    id: str
    name: str
    arguments: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class AssistantMessage:
    text: str = ""
    thinking: tuple[Thought, ...] = ()
    tool_calls: tuple[ToolCall, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolResult:
    id: str
    name: str
    content: str
    is_error: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """One part of a tool's output."""

    content: str
    mimetype: str = "text/plain"


Message: TypeAlias = UserMessage | AssistantMessage | ToolResult


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolSpec:
    """A tool as the model sees it: ``parameters`` is the JSON schema of an object."""

    name: str
    description: str = ""
    parameters: Mapping[str, Any] = field(default_factory=empty)


# ── what a model streams ────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """The next piece of the answer."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Thinking:
    """The next piece of reasoning."""

    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Usage:
    """Tokens of one request; ``input`` includes ``cached``. Sent only if the provider counts them."""

    input: int
    cached: int
    output: int
    total: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Done:
    """The end, with the whole reply as one message."""

    message: AssistantMessage
    finish_reason: str = ""


Delta: TypeAlias = Text | Thinking | Usage | Done
