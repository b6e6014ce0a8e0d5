"""What a tool of a conversation is, and the check of what a model wants to give it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from hookline.core._dataclass import empty
from hookline.core.errors import HooklineError

if TYPE_CHECKING:
    from hookline.agent.conversation.records import Result
    from hookline.agent.message import Tool

#: Glyphs by kind, of the fonts that Lectic's users have.
ICONS: Mapping[str, str] = {
    "exec": "\uf489", "sqlite": "\uf472", "mcp": "\ueb6d", "agent": "\U000f06a9", "a2a": "\u21c4",
}  # fmt: skip


class ToolError(HooklineError):
    """A call that came to nothing. ``kind`` is what hooks are told: invalid_args, unknown_tool, blocked, …"""

    def __init__(self, message: str, kind: str = "error") -> None:
        super().__init__(message)
        self.kind = kind


class HostTool(Protocol):
    """A tool: how the model is told of it, and what it does. ``use`` raises ``ToolError`` for the model to read."""

    @property
    def told(self) -> Tool: ...
    @property
    def kind(self) -> str: ...
    @property
    def icon(self) -> str: ...
    async def use(self, arguments: Mapping[str, Any]) -> tuple[Result, ...]: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """What tools run in: the caller's environment with Lectic's variables, and the directory of the run."""

    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    cwd: str = ""
    state_dir: str = ""


def check_arguments(schema: Mapping[str, Any], given: Any) -> Mapping[str, Any]:
    """The arguments as they are, or ``ToolError`` in Lectic's words."""
    if not isinstance(given, Mapping):
        raise ToolError(
            "The tool input isn't the right type. Tool inputs need to be returned as objects.", "invalid_args"
        )
    known = schema.get("properties") or {}
    for name in schema.get("required") or ():
        if name not in given:
            raise ToolError(f"Missing required argument: {name}", "invalid_args")
    for name, value in given.items():
        if name not in known and schema.get("additionalProperties", False) in (False, None):
            raise ToolError(f"Unknown argument: {name}", "invalid_args")
        _check_value(known.get(name) or {}, value)
    return given


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "number": (int, float), "integer": (int,), "boolean": (bool,), "array": (list, tuple),
    "object": (Mapping,), "null": (type(None),),
}  # fmt: skip


def _check_value(schema: Any, value: Any) -> None:
    if not isinstance(schema, Mapping):
        return
    wanted = schema.get("type")
    names = [wanted] if isinstance(wanted, str) else wanted if isinstance(wanted, list) else []
    if names and not any(_is(name, value) for name in names):
        shown = json.dumps(value, ensure_ascii=False, default=str)
        raise ToolError(f"Invalid {'|'.join(map(str, names))} value: {shown[:200]}", "invalid_args")
    if isinstance(value, list | tuple):
        for item in value:
            _check_value(schema.get("items"), item)


def _is(name: Any, value: Any) -> bool:
    kinds = _TYPES.get(str(name))
    if kinds is None:
        return True
    return isinstance(value, kinds) and (name == "boolean" or not isinstance(value, bool))
