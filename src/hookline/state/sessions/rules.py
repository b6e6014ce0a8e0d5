"""How turns are counted, what is remembered of a session, and when a hook that ran may run again: once in a session,
debounce, so often a minute. Pure functions, so that every session store behaves alike by construction.
"""

from __future__ import annotations

from hookline.core._dataclass import dataclass, replace
from hookline.core.hook import Gates
from hookline.core.session_facts import Facts, make_facts

#: Characters of a prompt that are remembered; a gate that looks for words finds them near the beginning.
_PROMPT_LIMIT = 16_384
_MINUTE = 60.0


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
