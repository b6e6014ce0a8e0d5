"""The rules of turns and claims as pure functions, so that both stores behave alike by construction."""

from __future__ import annotations

from math import inf

from hookline.core._dataclass import dataclass, fast_constructor, replace
from hookline.core.session_facts import Facts

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


def open_turn(standing: SessionState, *, typed: bool, turn: int | None, prompt: str) -> SessionState:
    """A typed prompt opens a turn and forgives the continuations of the one before.

    What the caller knows wins: its count of turns, and on other events the latest prompt it has seen.
    """
    if turn is not None:
        standing = replace(standing, turn=max(turn, 0))
    elif typed:
        standing = replace(standing, turn=standing.turn + 1)
    if typed:
        return replace(standing, continuations=0, last_prompt=prompt[:_PROMPT_LIMIT])
    return replace(standing, last_prompt=prompt[:_PROMPT_LIMIT]) if prompt else standing


def apply_decision(standing: SessionState, *, mode: str | None, continuations: int | None) -> SessionState:
    return replace(
        standing,
        mode=standing.mode if mode is None else mode,
        continuations=standing.continuations if continuations is None else continuations,
    )


def to_facts(standing: SessionState, generation: int) -> Facts:
    return make_facts(
        turn=standing.turn,
        mode=standing.mode,
        generation=generation,
        continuations=standing.continuations,
        last_prompt=standing.last_prompt,
    )


def refusal(ran: tuple[float, ...], *, once: bool, debounce: float, max_per_minute: int, now: float) -> str:
    """Why a hook that ran at these times may not run now; "" when it may.

    Processes that claim at once come in any order, so a time shortly after ours counts; but a clock that was set back
    must not lock a hook out, so times further in the future do not.
    """
    if not ran:
        return ""
    if once:
        return "already ran in this session"
    ago = min(abs(now - time) if now - time > -_MINUTE else inf for time in ran)
    if ago < debounce:
        return f"ran {ago:.3g} s ago, debounce is {debounce:g} s"
    recent = sum(abs(now - time) < _MINUTE for time in ran)
    if 0 < max_per_minute <= recent:
        times = "once" if recent == 1 else f"{recent} times"
        return f"ran {times} in the last minute"
    return ""


def add_claim(ran: tuple[float, ...], now: float) -> tuple[float, ...]:
    """The times to remember after running now: those of the last minute, and always the latest."""
    return (*(time for time in ran if abs(now - time) < _MINUTE), now)
