"""The open requests to one plugin: which one an answer belongs to, and when a plugin counts as hung.

An answer names its request, or belongs to the oldest one; so requests are numbered as they are sent, and one that
timed out is remembered for a while, since its answer may still come.
"""

from __future__ import annotations

from typing import Any

#: Requests that timed out and are remembered, at most.
_REMEMBERED = 64
#: Invalid lines in a row, or unanswered requests in a row, that are tolerated.
PATIENCE = 3
#: Messages in one second that are tolerated.
FLOOD = 500
#: Seconds of silence before it counts as hung: short deadlines alone must not end a plugin that is only busy.
HUNG = 2.0


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


class Patience:
    """Tolerance with one plugin. The methods return why the plugin must end; "" while it may stay."""

    __slots__ = ("_bad", "_floods", "_messages", "_second", "_silent", "_since")

    def __init__(self) -> None:
        self._bad = 0
        self._floods = 0
        self._messages = 0
        self._second = 0
        self._silent = 0
        self._since = 0.0

    def renew(self) -> None:
        """It sent a valid answer."""
        self._bad = self._silent = 0

    def after_message(self, now: float) -> str:
        """A message answers nothing, so it does not renew the patience. A burst is tolerated, a flood is not."""
        self._bad = 0
        if int(now) != self._second:
            follows = int(now) == self._second + 1
            self._floods = self._floods + 1 if follows and self._messages > FLOOD else 0
            self._second, self._messages = int(now), 0
        self._messages += 1
        return f"it sent more than {FLOOD} messages in each of {PATIENCE} seconds" if self._floods >= PATIENCE else ""

    def after_nonsense(self, what: object) -> str:
        self._bad += 1
        return f"it violated the protocol: {what}, the last of {PATIENCE} in a row" if self._bad >= PATIENCE else ""

    def after_silence(self, now: float) -> str:
        """A plugin that ignores several requests in a row counts as hung."""
        if not self._silent:
            self._since = now
        self._silent += 1
        hangs = self._silent >= PATIENCE and now - self._since >= HUNG
        return f"it did not answer {self._silent} times in a row" if hangs else ""
