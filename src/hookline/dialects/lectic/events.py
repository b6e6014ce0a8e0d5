"""Lectic's ten events, one row each: which canonical event it is, and when an alias of it fires.

A hook that lists an event and an alias of it runs once per firing, at the event itself: the alias says
nothing more. (Lectic runs it twice.)
"""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.spec import FieldTest

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class NativeEvent:
    """One row. ``canonical`` has two names for tool_use_post, which also hears failed and refused calls."""

    name: str
    canonical: tuple[str, ...]
    #: The event an alias belongs to; its own name for an event that is not an alias.
    base: str
    test: FieldTest | None = None
    #: Whether the standard output of an inline hook is recorded.
    inline: bool = False
    #: Whether it fires for one tool call, so that a tool's own hooks can hear it.
    tool: bool = False

    @property
    def alias(self) -> bool:
        return self.base != self.name


_MESSAGE = ("UserPromptSubmit",)
_REPLY = ("AssistantMessage",)

_FIRST = FieldTest(path="messages_length", equals=1)
_DONE = FieldTest(path="tool_use_done", equals=True)
_NOT_DONE = FieldTest(path="tool_use_done", equals=True, negate=True)
_BROKEN = FieldTest(path="status", equals="error")

_ROWS = (
    NativeEvent(name="user_message", canonical=_MESSAGE, base="user_message", inline=True),
    NativeEvent(name="user_first", canonical=_MESSAGE, base="user_message", test=_FIRST, inline=True),
    NativeEvent(name="assistant_message", canonical=_REPLY, base="assistant_message", inline=True),
    NativeEvent(name="assistant_final", canonical=_REPLY, base="assistant_message", test=_DONE, inline=True),
    NativeEvent(name="assistant_intermediate", canonical=_REPLY, base="assistant_message", test=_NOT_DONE, inline=True),
    NativeEvent(name="error", canonical=("RunEnd",), base="run_end", test=_BROKEN),
    NativeEvent(name="tool_use_pre", canonical=("PreToolUse",), base="tool_use_pre", tool=True),
    NativeEvent(name="tool_use_post", canonical=("PostToolUse", "PostToolUseFailure"), base="tool_use_post", tool=True),
    NativeEvent(name="run_start", canonical=("RunStart",), base="run_start"),
    NativeEvent(name="run_end", canonical=("RunEnd",), base="run_end"),
)

NATIVE: Mapping[str, NativeEvent] = MappingProxyType({row.name: row for row in _ROWS})

#: Native name -> canonical name, as ``Dialect.events`` wants it.
CANONICAL: Mapping[str, str] = MappingProxyType({row.name: row.canonical[0] for row in _ROWS})

#: Canonical name -> the native event that is not an alias.
BASE_OF: Mapping[str, str] = MappingProxyType(
    {canonical: row.name for row in _ROWS if not row.alias for canonical in row.canonical}
)

#: In the words of Lectic's own message.
ALL_NAMES = ", ".join(NATIVE)


def fired_once(names: Iterable[str]) -> tuple[str, ...]:
    """The known names in the order written, none twice, and no alias next to its own event."""
    known = tuple(dict.fromkeys(name for name in names if name in NATIVE))
    return tuple(name for name in known if not (NATIVE[name].alias and NATIVE[name].base in known))
