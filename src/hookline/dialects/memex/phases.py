"""The four phases, one row each: when a phase happens in canonical words, and what it gives to a hook."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    name: str
    event: str
    #: session_start is a moment inside the first prompt, before pre_turn.
    rank: int = 0
    once: bool = False
    #: A silent hook would only delay the answer here: it is skipped.
    silent: bool = True
    placement: Literal["context", "session"] = "context"
    #: ``hook_<key>`` in the snapshot -> (field of the event's data, what it is when missing).
    extras: tuple[tuple[str, str, str], ...] = ()
    #: The turns that have just been recorded when the phase happens: (role, field of the data).
    recorded: tuple[tuple[str, str], ...] = ()


PHASES: Mapping[str, Phase] = MappingProxyType(
    {
        row.name: row
        for row in (
            Phase(
                name="session_start", event="UserPromptSubmit", rank=-1, once=True, silent=False,
                extras=(("input_text", "prompt", ""),), recorded=(("user", "prompt"),),
            ),
            Phase(
                name="pre_turn", event="UserPromptSubmit", silent=False,
                extras=(("input_text", "prompt", ""),), recorded=(("user", "prompt"),),
            ),
            Phase(
                name="post_turn", event="Stop",
                extras=(("last_display", "assistant_message", ""), ("last_sanitized", "assistant_message", "")),
                recorded=(("user", "user_message"), ("assistant", "assistant_message")),
            ),
            Phase(name="session_end", event="SessionEnd", placement="session", extras=(("reason", "reason", "exit"),)),
        )
    }
)  # fmt: skip
