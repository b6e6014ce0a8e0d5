"""What a session remembers between firings: turns, mode, counters, and the claims of hooks."""

from __future__ import annotations

import time
from _thread import allocate_lock
from collections.abc import Callable

from hookline.core.hook import Gates
from hookline.core.session_facts import Facts
from hookline.core.typed import Protocol
from hookline.state.sessions.rules import SessionState, add_claim, apply_decision, claim_refusal, open_turn, to_facts


class _Session:
    __slots__ = ("claims", "generations", "state", "touched")

    def __init__(self) -> None:
        self.state = SessionState()
        self.generations: dict[str, int] = {}
        self.claims: dict[str, tuple[float, ...]] = {}
        self.touched = 0.0


class MemorySessions:
    """Thread-safe; "" is a session like any other."""

    note = ""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        self._clock = clock
        self._lock = allocate_lock()
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
                found.state = open_turn(found.state, typed=typed, turn=turn, prompt=prompt)
            generation = found.generations[kind] = found.generations.get(kind, 0) + 1
            return to_facts(found.state, generation)

    def peek(self, session: str, kind: str, *, typed: bool = False, turn: int | None = None, prompt: str = "") -> Facts:
        with self._lock:
            found = self._sessions.get(session) or _Session()
            state = open_turn(found.state, typed=typed, turn=turn, prompt=prompt)
            return to_facts(state, found.generations.get(kind, 0))

    def claim(self, session: str, hook_id: str, gates: Gates, now: float) -> str:
        with self._lock:
            claims = self._touch(session).claims
            ran = claims.get(hook_id, ())
            why = claim_refusal(ran, gates, now)
            if not why:
                claims[hook_id] = add_claim(ran, now)
            return why

    def would_claim(self, session: str, hook_id: str, gates: Gates, now: float) -> str:
        with self._lock:
            found = self._sessions.get(session)
            ran = found.claims.get(hook_id, ()) if found else ()
            return claim_refusal(ran, gates, now)

    def settle(self, session: str, *, mode: str | None, continuations: int | None) -> None:
        with self._lock:
            found = self._touch(session)
            found.state = apply_decision(found.state, mode=mode, continuations=continuations)

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
        """What ``begin`` would return, without counting: ``generation`` is that of the latest firing."""
        ...

    def claim(self, session: str, hook_id: str, gates: Gates, now: float) -> str:
        """Claim the right to run under the limits of ``gates``; "" when granted, else why not. Of many at once, one wins."""
        ...

    def would_claim(self, session: str, hook_id: str, gates: Gates, now: float) -> str:
        """What ``claim`` would return, without claiming anything."""
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
