"""What our own questions to models cost: a line for each in a file of the day, and caps for a day.

Hooks that ask a model, hook agents and the distiller write here. A cap is checked before a question, so the last one of a
day may exceed it.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, field, replace
from hookline.core.errors import StateError
from hookline.core.files import prune, read_text
from hookline.core.paths import private_dir
from hookline.llm.names import ModelError

if TYPE_CHECKING:
    from hookline.core.settings import Limits

_FOLDER = "spending"
_KEPT_DAYS = 90


class CapReachedError(ModelError):
    """A cap for the day is reached."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    requests: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    #: Of the questions whose price is known.
    cost_usd: float = 0.0
    #: By who asked: ``distiller``, or the name of a hook.
    by: Mapping[str, Spending] = field(default_factory=dict)

    @property
    def tokens(self) -> int:
        return self.input_tokens + self.output_tokens

    def __add__(self, usage: Mapping[str, Any]) -> Spending:
        counts = {name: getattr(self, name) + _number(usage.get(name)) for name in ("input_tokens", "output_tokens")}
        cost = self.cost_usd + float(_number(usage.get("cost_usd")))
        return replace(self, requests=self.requests + int(_number(usage.get("requests")) or 1), cost_usd=cost, **counts)

    def __str__(self) -> str:
        money = f", ${self.cost_usd:.4f}" if self.cost_usd else ""
        return f"{self.requests} model requests, {self.tokens} tokens{money}"


def note_usage(state: str, who: str, usage: Mapping[str, Any]) -> None:
    """Never raises: an answer that was paid for is used, also if it cannot be counted."""
    if not state or not usage:
        return
    names = ("model", "requests", "input_tokens", "output_tokens", "cached_tokens", "cost_usd", "estimated")
    line = json.dumps({"at": round(time.time(), 3), "who": who} | {k: usage[k] for k in names if k in usage})
    with suppress(OSError, StateError):
        folder = private_dir(os.path.join(state, _FOLDER))
        path = os.path.join(folder, _today())
        fresh = not os.path.exists(path)
        handle = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(handle, f"{line}\n".encode())
        finally:
            os.close(handle)
        if fresh:
            prune(folder, keep=_KEPT_DAYS, days=_KEPT_DAYS, now=time.time())


def usage_today(state: str) -> Spending:
    total, by = Spending(), dict[str, Spending]()
    for line in (read_text(os.path.join(state, _FOLDER, _today())) or "").splitlines():
        with suppress(ValueError):
            if isinstance(usage := json.loads(line), dict):
                total, who = total + usage, str(usage.get("who"))
                by[who] = by.get(who, Spending()) + usage
    return replace(total, by=by)


def check_cap(state: str, limits: Limits) -> None:
    """Raises CapReachedError."""
    if not state or not (limits.model_tokens_per_day or limits.model_usd_per_day):
        return
    spent = usage_today(state)
    for name, used in (("model_tokens_per_day", spent.tokens), ("model_usd_per_day", spent.cost_usd)):
        cap = getattr(limits, name)
        if cap and used >= cap:
            raise CapReachedError(f"no model is asked before tomorrow: limits.{name} = {cap:g} is reached ({spent})")


def _today() -> str:
    return time.strftime("%Y-%m-%d.jsonl")


def _number(value: Any) -> int | float:
    return value if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e12 else 0
