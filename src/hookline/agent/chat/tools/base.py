"""What a tool of the chat is: what the model is told of it, what it needs permission for, and how it is used."""

from __future__ import annotations

import os
from collections.abc import Awaitable, Callable, Coroutine, Mapping
from typing import TYPE_CHECKING, Any, TypeAlias

from hookline.core._dataclass import dataclass, field

if TYPE_CHECKING:
    from hookline.agent.chat.permissions import Need
    from hookline.agent.message import Tool
    from hookline.core.settings import Settings
    from hookline.runners.cancel import Stop

#: Characters of a result that reach the model; the middle of a longer one is left out.
_LONGEST = 30_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Output:
    """``kind`` says what sort of error it is: error, invalid_args, timeout, interrupt."""

    text: str
    is_error: bool = False
    kind: str = "error"


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """Where a tool works. ``stop`` ends what runs in a thread or a process when the turn is cancelled."""

    cwd: str
    environ: Mapping[str, str] = field(repr=False)
    settings: Settings
    stop: Stop
    #: Hands a task to a subagent; None inside one, since subagents have no subagents.
    delegate: Callable[[Mapping[str, Any]], Awaitable[Output]] | None = None


_Use: TypeAlias = Callable[[Mapping[str, Any], Place], Coroutine[Any, Any, Output]]


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTool:
    tool: Tool
    need: Need
    use: _Use


def failed(text: str, kind: str = "error") -> Output:
    return Output(text=text, is_error=True, kind=kind)


def schema(required: str, **properties: Any) -> dict[str, Any]:
    """The JSON schema of an object; ``required`` are names in one text."""
    return {"type": "object", "properties": properties, "required": required.split(), "additionalProperties": False}


def text(about: str) -> dict[str, str]:
    return {"type": "string", "description": about}


def number(about: str) -> dict[str, str]:
    return {"type": "integer", "description": about}


def flag(about: str) -> dict[str, str]:
    return {"type": "boolean", "description": about}


_TYPES: Mapping[str, tuple[type, ...]] = {
    "string": (str,), "integer": (int,), "number": (int, float), "boolean": (bool,), "array": (list,), "object": (dict,),
}  # fmt: skip


def wrong_arguments(parameters: Mapping[str, Any], given: Any) -> str:
    """What is wrong with the arguments of a call, in words the model can mend it by; "" when nothing is."""
    if not isinstance(given, dict):
        return "the arguments are not a JSON object"
    missing = [name for name in parameters.get("required", ()) if name not in given]
    if missing:
        return f"missing: {', '.join(missing)}"
    known = parameters.get("properties") or {}
    if parameters.get("additionalProperties") is False and (unknown := sorted(set(given) - set(known))):
        return f"unknown: {', '.join(unknown)}; known are {', '.join(known)}"
    for name, value in given.items():
        wanted = known.get(name, {}).get("type") if isinstance(known.get(name), dict) else None
        types = _TYPES.get(wanted) if isinstance(wanted, str) else None
        if types and (not isinstance(value, types) or (isinstance(value, bool) and bool not in types)):
            return f"{name} must be a {wanted}"
    return ""


def resolved(place: Place, path: str) -> str:
    return os.path.normpath(os.path.join(place.cwd, os.path.expanduser(path)))


def shortened(whole: str, limit: int = _LONGEST) -> str:
    """The beginning and the end; errors stand at the end mostly."""
    if len(whole) <= limit:
        return whole
    head, tail = limit * 2 // 3, limit // 3
    return f"{whole[:head]}\n… {len(whole) - head - tail} characters left out …\n{whole[-tail:]}"
