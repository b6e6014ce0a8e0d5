"""What a session knows at the moment an event is fired, and the rules of turns and claims.

The rules are pure functions, so that every session store behaves alike by construction.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from hookline.core._dataclass import dataclass, fast_constructor, replace
from hookline.core.event import EventKind
from hookline.core.hook import Gates
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


#: Characters of a prompt that are remembered; a gate that looks for words finds them near the beginning.
_PROMPT_LIMIT = 16_384
_MINUTE = 60.0

make_facts = fast_constructor(Facts)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionState:
    """What is remembered of a session, counts of event kinds apart."""

    turn: int = 0
    mode: str = ""
    continuations: int = 0
    last_prompt: str = ""


def open_turn(state: SessionState, *, typed: bool, turn: int | None, prompt: str) -> SessionState:
    """A typed prompt opens a turn and forgives the continuations of the one before.

    What the caller knows wins: its count of turns, and on other events the latest prompt it has seen.
    """
    if turn is not None:
        state = replace(state, turn=max(turn, 0))
    elif typed:
        state = replace(state, turn=state.turn + 1)
    if typed:
        return replace(state, continuations=0, last_prompt=prompt[:_PROMPT_LIMIT])
    return replace(state, last_prompt=prompt[:_PROMPT_LIMIT]) if prompt else state


def apply_decision(state: SessionState, *, mode: str | None, continuations: int | None) -> SessionState:
    return replace(
        state,
        mode=state.mode if mode is None else mode,
        continuations=state.continuations if continuations is None else continuations,
    )


def to_facts(state: SessionState, generation: int) -> Facts:
    return make_facts(
        turn=state.turn,
        mode=state.mode,
        generation=generation,
        continuations=state.continuations,
        last_prompt=state.last_prompt,
    )


def claim_refusal(ran: tuple[float, ...], gates: Gates, now: float) -> str:
    """Why a hook that ran at these times may not run now; "" when it may.

    Processes that claim at once come in any order, so a time shortly after ours counts; but a clock that was set back
    must not lock a hook out, so times further in the future do not.
    """
    if not ran:
        return ""
    if gates.once_per_session:
        return "already ran in this session"
    ago = min(abs(now - time) if now - time > -_MINUTE else float("inf") for time in ran)
    if ago < gates.debounce:
        return f"ran {ago:.3g} s ago, debounce is {gates.debounce:g} s"
    recent = sum(abs(now - time) < _MINUTE for time in ran)
    if 0 < gates.max_per_minute <= recent:
        times = "once" if recent == 1 else f"{recent} times"
        return f"ran {times} in the last minute"
    return ""


def add_claim(ran: tuple[float, ...], now: float) -> tuple[float, ...]:
    """The times to remember after running now: those of the last minute, and always the latest."""
    return (*(time for time in ran if abs(now - time) < _MINUTE), now)
