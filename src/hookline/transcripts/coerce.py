"""Values of a record that may be anything: what is not of the wanted kind is as good as absent."""

from __future__ import annotations

from collections import OrderedDict
from typing import Any

from hookline.transcripts.message import Tokens


def table(value: Any) -> dict[str, Any]:
    return value if isinstance(value, dict) else {}


def rows(value: Any) -> list[dict[str, Any]]:
    """The objects in a list."""
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []


def words(value: Any) -> str:
    return value if isinstance(value, str) else ""


def count(value: Any) -> int:
    """A number of things: a whole one, and none below zero."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return 0
    return int(value) if 0 <= value < 1e15 else 0


def texts(value: Any, *fields: str) -> str:
    """A text, or the texts of the parts that it is made of."""
    if isinstance(value, str):
        return value
    wanted = fields or ("text",)
    found = (words(one.get(name)) for one in rows(value) for name in wanted)
    return "\n".join(text for text in found if text)


def exit_code(value: Any) -> int:
    """0 also when nobody said it."""
    whole = isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e9
    return int(value) if whole else 0


class Latest:
    """What was noted under a name, for the latest names only: a file may have any number of them."""

    def __init__(self, size: int = 4096) -> None:
        self._size = size
        self._kept: OrderedDict[str, Any] = OrderedDict()

    def get(self, name: str, default: Any = None) -> Any:
        return self._kept.get(name, default)

    def put(self, name: str, value: Any) -> None:
        self._kept[name] = value
        self._kept.move_to_end(name)
        if len(self._kept) > self._size:
            self._kept.popitem(last=False)

    def first(self, name: str) -> bool:
        """True once for every name."""
        known = name in self._kept
        self.put(name, self._kept.get(name, True))
        return not known


class Spent:
    """Tokens of model calls that are written down several times: every token is told once."""

    def __init__(self) -> None:
        self._told = Latest(256)

    def new(self, call: str, now: Tokens | None) -> Tokens | None:
        """What this record of the call adds."""
        if now is None:
            return None
        told: Tokens = self._told.get(call, Tokens()) if call else Tokens()
        more = Tokens(
            input=max(0, now.input - told.input),
            output=max(0, now.output - told.output),
            cached=max(0, now.cached - told.cached),
        )
        if more == Tokens():
            return None
        self._told.put(call, now)
        return more
