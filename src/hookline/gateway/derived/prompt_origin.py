"""Prompts that no person typed: agents fire them like any other.

They are marked with ``auto_submit`` and, where it is known, ``synthetic``: what kind of thing it is. They open no turn,
and the loop guard goes on counting.
"""

from __future__ import annotations

import hashlib
import re
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.agents import Agent
from hookline.core.event import Event
from hookline.core.hook import Gates
from hookline.core.result import Decision
from hookline.engine.engine import Engine

#: Seconds within which an agent fires the reason with which a hook refused to let it stop. Who types the same words later is a person.
_SOON = 60.0

_BEFORE = re.compile(r"\A(?:<hook_context>.*?</hook_context>\s*)+", re.DOTALL)

_WRAPPED = (
    ("<task-notification>", "task notification"),
    ("<subagent_notification>", "task notification"),
    ("<stop-hook>", "stop reason"),
    ("<hook_prompt", "stop reason"),
    ("Stop hook feedback:", "stop reason"),
    ("<system-reminder>", "reminder"),
    ("<local-command-", "command"),
    ("<command-name>", "command"),
    ("<command-message>", "command"),
    ("<bash-stdout>", "command"),
    ("<bash-stderr>", "command"),
)


def mark_origin(engine: Engine, event: Event, agent: Agent) -> Event:
    """The prompt, and who is behind it if it is not a person. What the agent put in front of the person's words, because
    a hook had said it when the session began, is taken off again."""
    prompt = event.data.get("prompt")
    if agent.prefixes_prompt and isinstance(prompt, str) and (typed := _BEFORE.sub("", prompt)) != prompt and typed:
        event = replace(event, data={**event.data, "prompt": typed, "derived": ["prompt"]})
    kind = _kind(engine, event, agent)
    if not kind:
        return event
    return replace(event, data={**event.data, "auto_submit": True, "synthetic": kind})


def _kind(engine: Engine, event: Event, agent: Agent) -> str:
    prompt = _text(event.data.get("prompt")).strip()
    for start, kind in _WRAPPED:
        if prompt.startswith(start):
            return kind
    if prompt and agent.echoes_stop_reason and event.session and _given_lately(engine, event, prompt):
        return "stop reason"
    # The dialect saw that nobody typed it.
    return ("continuation" if not prompt else "task") if event.data.get("auto_submit") else ""


def remember(engine: Engine, event: Event, decision: Decision, agent: Agent) -> None:
    """The reason that is given to an agent which will say it again."""
    if agent.echoes_stop_reason and event.session and decision.effect == "deny":
        engine.sessions.claim(event.session, _mark(decision.refusal_text.strip()), Gates(), engine.clock())


def _given_lately(engine: Engine, event: Event, prompt: str) -> bool:
    return bool(engine.sessions.would_claim(event.session, _mark(prompt), Gates(debounce=_SOON), engine.clock()))


def _mark(text: str) -> str:
    """Kept as a digest: a reason may be long, and may hold what should not be written down."""
    return "sent back: " + hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:32]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""
