"""What a session remembers between firings: turns, mode, counters, and the claims hooks have taken."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Protocol

from hookline.core.session_facts import (
    Facts,
    SessionState,
    add_claim,
    apply_decision,
    claim_refusal,
    open_turn,
    to_facts,
)


class _Session:
    __slots__ = ("claims", "generations", "standing", "touched")

    def __init__(self) -> None:
        self.standing = SessionState()
        self.generations: dict[str, int] = {}
        self.claims: dict[str, tuple[float, ...]] = {}
        self.touched = 0.0


class MemorySessions:
    """Thread-safe; "" is a session like any other."""

    note = ""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = threading.Lock()
        self._sessions: dict[str, _Session] = {}

    def _touch(self, session: str) -> _Session:
        found = self._sessions.get(session)
        if found is None:
            found = self._sessions[session] = _Session()
        found.touched = self._clock()
        return found

    def begin(self, session: str, kind: str, *, typed: bool, turn: int | None = None, prompt: str = "") -> Facts:
        with self._lock:
            found = self._touch(session)
            if typed or turn is not None or prompt:
                found.standing = open_turn(found.standing, typed=typed, turn=turn, prompt=prompt)
            generation = found.generations[kind] = found.generations.get(kind, 0) + 1
            return to_facts(found.standing, generation)

    def peek(self, session: str, kind: str, *, typed: bool = False, turn: int | None = None, prompt: str = "") -> Facts:
        with self._lock:
            found = self._sessions.get(session) or _Session()
            standing = open_turn(found.standing, typed=typed, turn=turn, prompt=prompt)
            return to_facts(standing, found.generations.get(kind, 0))

    def claim(self, session: str, hook_id: str, *, once: bool, debounce: float, max_per_minute: int, now: float) -> str:
        with self._lock:
            claims = self._touch(session).claims
            ran = claims.get(hook_id, ())
            why = claim_refusal(ran, once=once, debounce=debounce, max_per_minute=max_per_minute, now=now)
            if not why:
                claims[hook_id] = add_claim(ran, now)
            return why

    def would_claim(
        self, session: str, hook_id: str, *, once: bool, debounce: float, max_per_minute: int, now: float
    ) -> str:
        with self._lock:
            found = self._sessions.get(session)
            ran = found.claims.get(hook_id, ()) if found else ()
            return claim_refusal(ran, once=once, debounce=debounce, max_per_minute=max_per_minute, now=now)

    def settle(self, session: str, *, mode: str | None, continuations: int | None) -> None:
        with self._lock:
            found = self._touch(session)
            found.standing = apply_decision(found.standing, mode=mode, continuations=continuations)

    def forget(self, session: str) -> None:
        with self._lock:
            self._sessions.pop(session, None)

    def prune(self, older_than: float) -> int:
        with self._lock:
            old = [name for name, session in self._sessions.items() if session.touched < older_than]
            for name in old:
                del self._sessions[name]
            return len(old)

    def close(self) -> None:
        pass


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
