"""Events that came already, in the memory of a process that stays."""

from __future__ import annotations

import threading
from collections import OrderedDict
from time import monotonic

from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.gateway.dedupe import KEPT_SECONDS, DedupeTurn, EarlierDecision, Key, keep_decision

#: Events that are kept at most.
_MOST = 1024


class _Arrival:
    """One event: which registrations it came through, and what was decided. Guarded by the lock of its deduper."""

    __slots__ = ("at", "done", "earlier", "registrations", "running")

    def __init__(self, registration: str) -> None:
        self.registrations = {registration}
        self.running = True
        self.earlier: EarlierDecision | None = None
        self.at = 0.0
        #: Set when the decision is there; None while nobody waits.
        self.done: threading.Event | None = None


class MemoryDeduper:
    """The latest events. Thread-safe."""

    __slots__ = ("_arrivals", "_lock", "running")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # Finding the oldest of a plain dictionary passes all that were removed before it, every time.
        self._arrivals: OrderedDict[Key, list[_Arrival]] = OrderedDict()
        #: Events that are being decided now: while it is 0, nobody has to wait.
        self.running = 0

    def enter(self, key: Key, registration: str, until: float) -> DedupeTurn:
        with self._lock:
            found = self._find(key, registration)
            if found is None:
                return self._first(key, registration)
            found.registrations.add(registration)
            if found.earlier is not None:
                return _Decided(found.earlier)
            if found.running:
                found.done = found.done or threading.Event()
            done = found.done
        if done is not None:
            done.wait(max(until - monotonic(), 0.0) if until else None)
        with self._lock:
            if found.earlier is not None:
                return _Decided(found.earlier)
            # The first caller failed, or takes longer than we may wait.
            found.running = True
            self.running += 1
            return _FirstTurn(self, found, registration)

    def __len__(self) -> int:
        return len(self._arrivals)

    def knows(self, key: Key, registration: str) -> bool:
        """Whether it came through another registration only."""
        with self._lock:
            return self._find(key, registration) is not None

    def would_wait(self, key: Key, registration: str) -> bool:
        if not self.running:
            return False
        with self._lock:
            found = self._find(key, registration)
            return found is not None and found.earlier is None

    def _find(self, key: Key, registration: str) -> _Arrival | None:
        old = monotonic() - KEPT_SECONDS
        for arrival in self._arrivals.get(key, ()):
            if registration not in arrival.registrations and (arrival.earlier is None or arrival.at > old):
                return arrival
        return None

    def _first(self, key: Key, registration: str) -> _FirstTurn:
        arrival = _Arrival(registration)
        some = self._arrivals.get(key)
        if some is None:
            self._arrivals[key] = [arrival]
            self._forget()
        else:
            old = monotonic() - KEPT_SECONDS
            some[:] = [one for one in some if one.earlier is None or one.at > old]
            some.append(arrival)
        self.running += 1
        return _FirstTurn(self, arrival, registration)

    def _forget(self) -> None:
        """The oldest go first; at most two for each new one, so that no caller pays for all."""
        old = monotonic() - KEPT_SECONDS
        for _ in range(2):
            key = next(iter(self._arrivals))
            latest = self._arrivals[key][-1]
            if len(self._arrivals) <= _MOST and (latest.running or latest.at > old):
                return
            if len(self._arrivals) == 1:
                return
            del self._arrivals[key]

    def conclude(self, arrival: _Arrival, earlier: EarlierDecision | None) -> None:
        with self._lock:
            arrival.earlier, arrival.at, arrival.running = earlier, monotonic(), False
            self.running -= 1
            done, arrival.done = arrival.done, None
        if done is not None:
            done.set()


class _Decided:
    """There is a decision already."""

    __slots__ = ("earlier",)

    def __init__(self, earlier: EarlierDecision) -> None:
        self.earlier = earlier

    def keep(self, event: Event, decision: Decision) -> None:
        pass

    def leave(self) -> None:
        pass


class _FirstTurn:
    """The caller that runs the hooks."""

    __slots__ = ("_arrival", "_deduper", "_kept", "_registration")
    earlier = None

    def __init__(self, deduper: MemoryDeduper, arrival: _Arrival, registration: str) -> None:
        self._deduper = deduper
        self._arrival = arrival
        self._registration = registration
        self._kept: EarlierDecision | None = None

    def keep(self, event: Event, decision: Decision) -> None:
        self._kept = keep_decision(event, self._registration, decision)

    def leave(self) -> None:
        self._deduper.conclude(self._arrival, self._kept)
