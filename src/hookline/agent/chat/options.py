"""The options of a chat."""

from __future__ import annotations

from dataclasses import dataclass

from hookline.agent.chat.compaction import LIMIT
from hookline.agent.permissions import Mode

#: Default limit of model requests in one turn.
_MAX_TURNS = 100
#: Turns that hooks may submit in a row without a user.
MAX_FOLLOW_UPS = 6


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatOptions:
    model: str = ""
    mode: Mode = "ask"
    allow: tuple[str, ...] = ()
    max_turns: int = _MAX_TURNS
    context_limit: int = LIMIT
    system: str = ""
    #: More files of tools, trusted because the user named them.
    tools: tuple[str, ...] = ()
    #: The session to continue: its id, or "" for the latest of this directory; None starts a new one.
    resume: str | None = None
    interactive: bool = False
    #: Keep every decision for a report.
    report: bool = False
