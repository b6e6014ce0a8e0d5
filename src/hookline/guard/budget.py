"""How much work one reading may be, so that no text takes longer than an agent waits."""

from __future__ import annotations

#: A step is a token, a part of a word or a command that is followed: two to five microseconds.
_STEPS = 6_500
_DEPTH = 40


class LimitReached(Exception):
    """The rest of the text is not read; ``str`` of it is the reason, in plain English."""


class Budget:
    __slots__ = ("_depth", "_left")

    def __init__(self, steps: int = _STEPS) -> None:
        self._left = steps
        self._depth = 0

    def spend(self, steps: int = 1) -> None:
        self._left -= steps
        if self._left < 0:
            raise LimitReached("the command is too long or does too much to be read")

    def enter(self) -> None:
        self._depth += 1
        if self._depth > _DEPTH:
            raise LimitReached("the command is nested too deeply to be read")

    def leave(self) -> None:
        self._depth -= 1
