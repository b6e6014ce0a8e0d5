"""One event that arrives through two registrations is one event: its hooks run once, and both get the same decision.

Several agents read one another's files, and a person may register hookline for themselves and for the project. Whoever
comes second, through another registration, waits for the first and gets its decision; if the first dies, the second runs
the hooks. Two equal calls through one registration are two events: the first of one registration is the first of the
other's.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from collections.abc import Mapping
from time import monotonic

from hookline.core._dataclass import EMPTY, dataclass, fast_constructor, replace
from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.core.typed import Any, Protocol
from hookline.dialects.base import Incoming

#: Seconds for which a decision is repeated. An agent that runs its hooks one after the other comes with the second
#: registration when the first has ended.
KEPT_SECONDS = 30.0
#: Events that are kept in memory at most.
_MOST = 1024

Key = tuple[str, ...]

_IDS = ("prompt_id", "turn_id", "agent_id")
#: What distinguishes two events of one session where the agent gives them no id.
_CONTENT = ("tool_name", "tool_input", "prompt", "message", "file_path", "trigger")


def event_key(incoming: Incoming, *around: str) -> Key:
    """Equal for the same event, whichever registration it comes through and in whichever agent's format.

    The agent is not part of it: one that reads another's file calls under that other's name. Its session is the same.
    """
    get = incoming.data.get
    call = get("tool_use_id")
    ids = [str(get(name) or "") for name in _IDS]
    content = "" if call else json.dumps([get(name) for name in _CONTENT], sort_keys=True, default=str)
    return (incoming.session, incoming.event, str(call or ""), *ids, content, *around)


@dataclass(frozen=True, slots=True, kw_only=True)
class EarlierDecision:
    """What hooks decided when the event came first. Of the data, only the changed fields are kept."""

    event_id: str
    registration: str
    decision: Decision

    def for_event(self, event: Event) -> Decision:
        """The same decision for the event as it came now."""
        decision = self.decision
        return replace(decision, data={**event.data, **decision.data} if decision.modified else event.data)


_make_decision, _make_earlier = fast_constructor(Decision), fast_constructor(EarlierDecision)


class DedupeTurn(Protocol):
    """With ``earlier`` the caller has its decision; without, it runs the hooks and ``keep`` s what they decide."""

    @property
    def earlier(self) -> EarlierDecision | None: ...

    def keep(self, event: Event, decision: Decision) -> None: ...

    def leave(self) -> None:
        """On every way out. After a caller that leaves without a decision, the next one runs."""
        ...


class Deduper(Protocol):
    """A daemon remembers in memory, processes that come and go in a file."""

    def enter(self, key: Key, registration: str, until: float) -> DedupeTurn:
        """Waits while the same event is being decided, but not after ``until`` (``time.monotonic``; 0.0: no limit)."""
        ...


def keep_decision(event: Event, registration: str, decision: Decision) -> EarlierDecision:
    """Without the data as they came and without the outcome of each hook."""
    fields: Mapping[str, Any] = EMPTY
    if decision.modified:
        fields = {name: decision.data[name] for name in decision.changed_fields(event) if name in decision.data}
    slim = _make_decision(
        event=decision.event, effect=decision.effect, granted=decision.granted, reason=decision.reason,
        aborted=decision.aborted, data=fields, modified=decision.modified, context=decision.context,
        messages=decision.messages, attributes=decision.attributes, droppable=decision.droppable,
    )  # fmt: skip
    return _make_earlier(event_id=event.id, registration=registration, decision=slim)


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
    """For a process that stays: the latest events, in memory. Thread-safe."""

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
