"""The open requests to one plugin, and which one an answer belongs to.

An answer names its request, or belongs to the oldest one; so requests are numbered as they are sent, and one that
timed out is remembered for a while, since its answer may still come.
"""

from __future__ import annotations

from typing import Any

#: Requests that timed out and are remembered, at most.
_REMEMBERED = 64


class PendingRequest:
    """A request that waits for its answer, at most until ``deadline``."""

    __slots__ = ("abandoned", "deadline", "message", "text")

    def __init__(self, deadline: float) -> None:
        self.message: dict[str, Any] | None = None
        self.text = ""
        self.abandoned = False
        self.deadline = deadline


class RequestTable:
    """The requests of one link. Callers hold its lock."""

    __slots__ = ("_number", "_waiting")

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[int, PendingRequest] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def number(self, pending: PendingRequest | None) -> int:
        """The number of the next request; its answer goes to ``pending``, if given."""
        self._number += 1
        if pending is not None:
            self._waiting[self._number] = pending
        return self._number

    def forget(self, number: int) -> None:
        """It was never sent."""
        self._waiting.pop(number, None)

    def abandon(self, pending: PendingRequest) -> None:
        pending.abandoned = True
        abandoned = [number for number, one in self._waiting.items() if one.abandoned]
        for number in abandoned[:-_REMEMBERED]:
            del self._waiting[number]

    def answer(self, message: dict[str, Any], text: str) -> bool:
        """Deliver by id, or to the oldest request. False: nobody waits for it, so it is dropped."""
        number = message.pop("id", None)
        if number is None:
            number = next(iter(self._waiting), None)
        pending = self._waiting.pop(number, None) if isinstance(number, int) else None
        if pending is None or pending.abandoned:
            return False
        message.pop("type", None)
        pending.text = text
        pending.message = message
        return True
