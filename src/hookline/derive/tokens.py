"""What models used, summed up from the transcript. Where the sum would be only a part, there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.transcripts import read, tail
from hookline.transcripts.lines import size_of
from hookline.transcripts.message import Tokens

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookline.transcripts.message import Message

#: How far back the beginning of a turn is looked for, step by step.
_STEPS = (1 << 18, 1 << 21, 1 << 24)
#: A longer transcript is not read whole for a sum.
_MOST = 64 << 20


def of_turn(path: str, agent: str) -> tuple[dict[str, int] | None, str]:
    """Since the person last said something; and what the model said last."""
    for step in _STEPS:
        messages = list(tail(path, agent, step))
        typed = [place for place, one in enumerate(messages) if one.role == "user" and not one.synthetic]
        whole = step >= size_of(path.partition("#")[0])
        if typed or whole:
            return _sum(messages[typed[-1] if typed else 0 :]), _last(messages)
    return None, _last(messages)


def of_session(path: str, agent: str) -> dict[str, int] | None:
    return _sum(read(path, agent)) if size_of(path.partition("#")[0]) <= _MOST else None


def _last(messages: list[Message]) -> str:
    return next((one.text for one in reversed(messages) if one.role == "assistant"), "")


def _sum(messages: Iterable[Message]) -> dict[str, int] | None:
    """None when no message says anything."""
    found: list[Tokens] = [one.tokens for one in messages if one.tokens is not None]
    if not found:
        return None
    into, out = sum(one.input for one in found), sum(one.output for one in found)
    return {"input": into, "cached": sum(one.cached for one in found), "output": out, "total": into + out}
