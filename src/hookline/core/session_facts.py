"""What a session knows at the moment an event is fired, with what the event itself says of it."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hookline.core._dataclass import dataclass, fast_constructor, replace
from hookline.core.event import EventKind
from hookline.core.typed import Any


@dataclass(frozen=True, slots=True, kw_only=True)
class Facts:
    """Made by a session store, read by ``match``, the engine and ``fold``."""

    #: Typed user turns so far, this one included.
    turn: int = 0
    mode: str = ""
    #: How often this kind of event was fired in this session, this time included.
    generation: int = 0
    #: How often in a row a Stop was denied in this turn.
    continuations: int = 0
    #: The latest prompt that a person typed, for message_contains on later events of the turn.
    last_prompt: str = ""


make_facts = fast_constructor(Facts)


def session_facts(
    ask: Callable[..., Facts], session: str, kind: EventKind, data: Mapping[str, Any], turn: int
) -> Facts:
    """What the session knows of an event, and what the event itself says of it: a host that keeps its own history is
    believed. ``ask`` is the session's ``begin``, which counts the event, or its ``peek``."""
    typed = kind.opens_turn and not data.get("auto_submit")
    history = data.get("history")
    prompt = as_text(data.get(kind.message)) if typed and kind.message else _last_prompt(history) if history else ""
    known = turn or (_turns_in(history) if history else 0) or None
    facts = ask(session, kind.name, typed=typed, turn=known, prompt=prompt)
    given = data.get("continuations")
    return facts if not isinstance(given, int) else replace(facts, continuations=max(given, facts.continuations))


def as_text(value: Any) -> str:
    """Data may hold anything: what is not text counts as empty."""
    return value if isinstance(value, str) else ""


def as_number(value: Any) -> int:
    """Turns are counted from 1; 0 means unknown."""
    return value if isinstance(value, int) and value > 0 else 0


def _turns_in(history: Any) -> int:
    """Typed user turns in a history that came with the event; 0 when there is none."""
    if not isinstance(history, list):
        return 0
    return sum(_typed(item) for item in history)


def _typed(item: Any) -> bool:
    if not isinstance(item, dict) or item.get("role") != "user":
        return False
    meta = item.get("meta")
    return not (isinstance(meta, dict) and meta.get("auto_submit"))


def _last_prompt(history: Any) -> str:
    if not isinstance(history, list):
        return ""
    return next((as_text(item.get("text")) for item in reversed(history) if _typed(item)), "")
