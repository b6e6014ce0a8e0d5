"""The requests to one plugin that are open: whose turn it is when an answer comes.

An answer names its request, or belongs to the oldest one; so requests are numbered as they are sent, and one that
nobody waits for any more is remembered for a while, since its answer may still come.
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
    """Of one link, whose lock is held by whoever calls."""

    __slots__ = ("_number", "_waiting")

    def __init__(self) -> None:
        self._number = 0
        self._waiting: dict[int, PendingRequest] = {}

    def __bool__(self) -> bool:
        return bool(self._waiting)

    def number(self, pending: PendingRequest | None) -> int:
        """The number of the next request; its answer is for ``pending``, or for nobody."""
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
        """By its id, or to the oldest request. An answer that nobody waits for is dropped: False."""
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
