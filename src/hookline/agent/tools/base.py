"""What a tool is: how the model sees it, what it needs permission for, and how it is used."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from functools import partial
from typing import Any, TypeAlias

from hookline.agent.message import ToolOutput, ToolSpec
from hookline.agent.permissions import Need
from hookline.core._dataclass import dataclass, field
from hookline.core.errors import HooklineError
from hookline.core.settings import Settings
from hookline.runners.base import Stop

#: Characters of a result that reach the model; the middle of a longer one is left out.
MAX_OUTPUT = 30_000

#: Glyphs by kind, from the fonts that Lectic's users have.
ICONS: Mapping[str, str] = {
    "exec": "\uf489", "sqlite": "\uf472", "mcp": "\ueb6d", "agent": "\U000f06a9", "a2a": "\u21c4",
}  # fmt: skip


class ToolError(HooklineError):
    """A call that failed. Hooks see ``kind``: error, invalid_args, unknown_tool, blocked, timeout, …"""

    def __init__(self, message: str, kind: str = "error") -> None:
        super().__init__(message)
        self.kind = kind


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """Where a tool works. ``stop`` ends what runs in a thread or a process when the turn is cancelled."""

    cwd: str
    environ: Mapping[str, str] = field(repr=False)
    settings: Settings = field(default_factory=Settings)
    stop: Stop = field(default_factory=Stop)
    #: Hands a task to a subagent; None inside one, since subagents have no subagents.
    delegate: Callable[[Mapping[str, Any]], Awaitable[str]] | None = None


#: A text is short for one output of plain text. A failure is a ``ToolError``, for the model to read.
_Use: TypeAlias = Callable[[Mapping[str, Any], ToolContext], Coroutine[Any, Any, str | tuple[ToolOutput, ...]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentTool:
    """``kind`` and ``icon`` mark its calls in a conversation file."""

    spec: ToolSpec
    use: _Use
    need: Need = "run"
    kind: str = ""
    icon: str = ""

    @property
    def name(self) -> str:
        return self.spec.name


def define_tool(
    name: str, description: str, use: _Use, required: str = "", /, *, need: Need = "run", **properties: Any
) -> AgentTool:
    """A built-in tool; ``required`` and ``properties`` describe its arguments as in ``object_schema``."""
    spec = ToolSpec(name=name, description=description, parameters=object_schema(required, **properties))
    return AgentTool(spec=spec, use=use, need=need)


def in_thread(work: Callable[[Mapping[str, Any], ToolContext], str]) -> _Use:
    """For a tool that blocks."""

    async def use(arguments: Mapping[str, Any], context: ToolContext) -> str:
        return await asyncio.to_thread(work, arguments, context)

    return use


def object_schema(required: str, **properties: Any) -> dict[str, Any]:
    """The JSON schema of an object; ``required`` are names in one text."""
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def string(description: str, kind: str = "string") -> dict[str, str]:
    """The schema of one argument: a text, or another simple kind."""
    return {"type": kind, "description": description}


integer, boolean = partial(string, kind="integer"), partial(string, kind="boolean")


def check_arguments(schema: Mapping[str, Any], arguments: Any) -> None:
    """Raise ``ToolError`` with everything that the model has to correct."""
    if not isinstance(arguments, Mapping):
        raise ToolError("the arguments must be a JSON object", "invalid_args")
    from jsonschema import Draft202012Validator  # a turn without tools does not need it

    try:
        errors = list(Draft202012Validator(schema).iter_errors(dict(arguments)))
    except Exception:
        return  # The schema itself is invalid, for instance an MCP server's: its tool must check for itself.
    if errors:
        found = (f"{error.json_path.removeprefix('$.')}: {error.message}".removeprefix("$: ") for error in errors)
        raise ToolError(f"invalid arguments: {'; '.join(found)}", "invalid_args")


def resolve(context: ToolContext, path: str) -> str:
    return os.path.normpath(os.path.join(context.cwd, os.path.expanduser(path)))


def shorten(text: str, limit: int = MAX_OUTPUT) -> str:
    """The beginning and the end; errors are mostly at the end."""
    if len(text) <= limit:
        return text
    head, tail = limit * 2 // 3, limit // 3
    return f"{text[:head]}\n… {len(text) - head - tail} characters left out …\n{text[-tail:]}"
