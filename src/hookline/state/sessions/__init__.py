"""What a session remembers between firings: turns, mode, counters, and the claims hooks have taken."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from hookline.core.session_facts import Facts


class Sessions(Protocol):
    """Every method is atomic, among threads and (in the stored kind) among processes, and never raises."""

    @property
    def note(self) -> str:
        """Why the state is only in memory although it should be kept; "" when all is well."""
        ...

    def begin(self, session: str, kind: str, *, typed: bool, turn: int | None = None, prompt: str = "") -> Facts:
        """Count the firing. A typed prompt opens a turn: the next one, or ``turn`` where the caller knows it."""
        ...

    def peek(self, session: str, kind: str, *, typed: bool = False, turn: int | None = None, prompt: str = "") -> Facts:
        """What ``begin`` would say, with nothing counted: ``generation`` is that of the latest firing."""
        ...

    def claim(self, session: str, hook_id: str, *, once: bool, debounce: float, max_per_minute: int, now: float) -> str:
        """Take the right to run; "" when it was taken, else why not. Of many who ask at once, only one gets it."""
        ...

    def would_claim(
        self, session: str, hook_id: str, *, once: bool, debounce: float, max_per_minute: int, now: float
    ) -> str:
        """What ``claim`` would say, with nothing taken."""
        ...

    def settle(self, session: str, *, mode: str | None, continuations: int | None) -> None:
        """Keep what a firing decided; None leaves a value as it is, the mode "" clears it."""
        ...

    def forget(self, session: str) -> None:
        """As if the session had never been."""
        ...

    def prune(self, older_than: float) -> int:
        """Forget the sessions last used before that time (seconds since the epoch); how many they were."""
        ...

    def close(self) -> None: ...
