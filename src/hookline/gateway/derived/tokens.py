"""What models used, summed up from the transcript. Where the sum would be only a part, there is none."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookline.transcripts import read, tail
from hookline.transcripts.lines import file_size

if TYPE_CHECKING:
    from hookline.transcripts.message import Tokens

#: How far back the beginning of a turn is looked for, step by step.
_STEPS = (1 << 18, 1 << 21, 1 << 24)
#: A longer transcript is not read whole for a sum.
_MOST = 64 << 20


def sum_turn(path: str, agent: str) -> tuple[dict[str, int] | None, str]:
    """Since the person last said something; and what the model said last."""
    answer = ""
    for step in _STEPS:
        spent: list[Tokens] = []
        typed = step >= file_size(path.partition("#")[0])
        for one in tail(path, agent, step):
            if one.role == "user" and not one.synthetic:
                spent, typed = [], True
            elif one.role == "assistant":
                answer = one.text
            if one.tokens is not None:
                spent.append(one.tokens)
        if typed:
            return _sum(spent), answer
    return None, answer


def sum_session(path: str, agent: str) -> dict[str, int] | None:
    if file_size(path.partition("#")[0]) > _MOST:
        return None
    return _sum(one.tokens for one in read(path, agent) if one.tokens is not None)


def _sum(spent: Iterable[Tokens]) -> dict[str, int] | None:
    """None when no message says anything."""
    into = out = cached = 0
    found = False
    for one in spent:
        into, out, cached, found = into + one.input, out + one.output, cached + one.cached, True
    return {"input": into, "cached": cached, "output": out, "total": into + out} if found else None
