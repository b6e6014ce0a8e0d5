"""How long a plugin is borne with that breaks its protocol or says nothing: afterwards it is ended, and started anew."""

from __future__ import annotations

#: So many lines in a row that are no messages, and so many requests in a row without any sign of life.
PATIENCE = 3
#: Seconds without a word before it counts as hung: short deadlines alone must not end one that is only busy.
HUNG = 2.0


class Patience:
    """With one plugin. What is asked of it answers why the plugin must go; "" while it may stay."""

    __slots__ = ("_bad", "_silent", "_since")

    def __init__(self) -> None:
        self._bad = 0
        self._silent = 0
        self._since = 0.0

    def renew(self) -> None:
        """It said something that makes sense."""
        self._bad = self._silent = 0

    def after_nonsense(self, what: object) -> str:
        self._bad += 1
        return f"it broke its protocol: {what}, the last of {PATIENCE} in a row" if self._bad >= PATIENCE else ""

    def after_silence(self, now: float) -> str:
        """A plugin that lets request after request pass without a word hangs."""
        if not self._silent:
            self._since = now
        self._silent += 1
        hangs = self._silent >= PATIENCE and now - self._since >= HUNG
        return f"it did not answer {self._silent} times in a row" if hangs else ""
