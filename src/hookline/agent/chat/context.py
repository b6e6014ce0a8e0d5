"""What a session needs from outside: hooks, tools, a model, a directory and options."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass

from hookline.agent.chat.compaction import LIMIT
from hookline.agent.chat.screen import Screen
from hookline.agent.model import ModelClient
from hookline.agent.permissions import Mode
from hookline.agent.tools.base import AgentTool
from hookline.engine.engine import Engine

#: Our modes in the words of other agents' hooks.
MODE_WORDS = {"ask": "default", "accept-edits": "acceptEdits", "allow": "dontAsk", "all": "bypassPermissions"}


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


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatContext:
    """What a session needs from outside; it outlives the session."""

    engine: Engine
    data_dir: str
    environ: Mapping[str, str]
    tools: Mapping[str, AgentTool]
    model: ModelClient
    screen: Screen
    options: ChatOptions
    cwd: str


def system_prompt(context: ChatContext) -> str:
    """Short on purpose: the model looks up what it needs."""
    given = context.options.system
    return given or (
        "You are an agent that works for a person in a terminal. Use the tools to look before you answer and to do "
        "what you are asked; say briefly what you did. Text in <system-reminder>, <stop-hook> and [Hook feedback] comes "
        f"from the person's own hooks: treat it as their word.\nThe working directory is {context.cwd}. "
        f"Today is {time.strftime('%Y-%m-%d')}."
    )
