"""Lectic's ten events, one row each: which canonical event it is, and when an alias of it fires.

A hook that lists an event and an alias of it runs once per firing, at the event itself: the alias says
nothing more. (Lectic runs it twice.)
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.event import EVENTS
from hookline.core.hook import FieldTest, Gates, Pattern

_ALWAYS = Gates()


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeEvent:
    """One row. ``canonical`` has two names for tool_use_post, which also fires for failed and refused calls."""

    name: str
    canonical: tuple[str, ...]
    #: The event an alias belongs to; its own name for an event that is not an alias.
    base: str
    test: FieldTest | None = None
    gates: Gates = _ALWAYS
    #: What firing the alias by its name says about the data.
    implied: Mapping[str, Any] = field(default_factory=empty)
    #: Whether the standard output of an inline hook is recorded.
    inline: bool = False
    #: Whether it fires for one tool call, so that a tool's own hooks can run on it.
    tool: bool = False

    @property
    def alias(self) -> bool:
        return self.base != self.name


# For an agent that does not count messages, the turn decides.
_FIRST = FieldTest(path="messages_length", pattern=Pattern(style="exact", options=("1",), when_missing=True))
_FIRST_TURN = Gates(first_turn_unless="messages_length")
_DONE = FieldTest(path="tool_use_done", equals=True)
_NOT_DONE = FieldTest(path="tool_use_done", equals=True, negate=True)
_BROKEN = FieldTest(path="status", equals="error")


def _event(name: str, *canonical: str, inline: bool = False, tool: bool = False) -> NativeEvent:
    return NativeEvent(name=name, canonical=canonical, base=name, inline=inline, tool=tool)


def _alias(name: str, base: NativeEvent, test: FieldTest, gates: Gates = _ALWAYS, **implied: Any) -> NativeEvent:
    return NativeEvent(
        name=name,
        canonical=base.canonical,
        base=base.name,
        test=test,
        gates=gates,
        implied=MappingProxyType(implied),
        inline=base.inline,
    )


_USER = _event("user_message", "UserPromptSubmit", inline=True)
_REPLY = _event("assistant_message", "AssistantMessage", inline=True)
_END = _event("run_end", "RunEnd")

_ROWS = (
    _USER,
    _alias("user_first", _USER, _FIRST, _FIRST_TURN, messages_length=1),
    _REPLY,
    _alias("assistant_final", _REPLY, _DONE, tool_use_done=True),
    _alias("assistant_intermediate", _REPLY, _NOT_DONE, tool_use_done=False),
    _alias("error", _END, _BROKEN, status="error"),
    _event("tool_use_pre", "PreToolUse", tool=True),
    _event("tool_use_post", "PostToolUse", "PostToolUseFailure", tool=True),
    _event("run_start", "RunStart"),
    _END,
)

#: Shell events are available under their own names; Lectic itself has no shell.
_SHELL = tuple(_event(name, name) for name, kind in EVENTS.items() if kind.family == "shell")

NATIVE: Mapping[str, NativeEvent] = MappingProxyType({row.name: row for row in (*_ROWS, *_SHELL)})

#: Native name -> canonical name, as ``Dialect.events`` wants it.
CANONICAL: Mapping[str, str] = MappingProxyType({row.name: row.canonical[0] for row in _ROWS})

#: What the name of an alias implies about the data.
IMPLIED: Mapping[str, Mapping[str, Any]] = MappingProxyType({row.name: row.implied for row in _ROWS if row.alias})

#: Canonical name -> the native event that is not an alias.
BASE_EVENTS: Mapping[str, str] = MappingProxyType(
    {canonical: row.name for row in (*_ROWS, *_SHELL) if not row.alias for canonical in row.canonical}
)

#: As Lectic's own message lists them.
ALL_NAMES = ", ".join(row.name for row in _ROWS)


def distinct_events(names: Iterable[str]) -> tuple[str, ...]:
    """The known names in the order written, none twice, and no alias next to its own event."""
    known = tuple(dict.fromkeys(name for name in names if name in NATIVE))
    return tuple(name for name in known if not (NATIVE[name].alias and NATIVE[name].base in known))
