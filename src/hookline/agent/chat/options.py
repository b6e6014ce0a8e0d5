"""What a chat was asked to be."""

from __future__ import annotations

from dataclasses import dataclass

from hookline.agent.chat.compaction import LIMIT
from hookline.agent.permissions import Mode

#: Model requests in one turn, unless told otherwise.
_MAX_TURNS = 100
#: Turns that hooks may submit in a row without a person.
MAX_FOLLOW_UPS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    model: str = ""
    mode: Mode = "ask"
    allow: tuple[str, ...] = ()
    max_turns: int = _MAX_TURNS
    context_limit: int = LIMIT
    system: str = ""
    #: Further files of tools; they count as trusted because they were named.
    tools: tuple[str, ...] = ()
    #: The session to go on with: its id, or "" for the latest of this directory; None begins a new one.
    resume: str | None = None
    interactive: bool = False
    #: Keep every decision for a report.
    report: bool = False
