"""One event that arrives through two registrations is one event: its hooks run once, and both are told the same.

Several agents read one another's files, and a person may register hookline for themselves and for the project. Who asks
second, through another registration, waits for the first and gets its decision; if the first dies, the second runs.
Two equal calls through one registration are two events: the first of one registration is the first of the other's.
"""

from __future__ import annotations

import json
import threading
from collections import OrderedDict
from time import monotonic
from typing import TYPE_CHECKING, Any, Protocol

from hookline.core._dataclass import EMPTY, dataclass, maker, replace
from hookline.core.result import Decision
from hookline.dialects.claude_family.outlet import changed

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.event import Event
    from hookline.dialects.base import Incoming

#: Seconds after which a decision is not given out again. An agent that runs its hooks one after the other comes with the
#: second registration when the first has ended.
KEPT = 30.0
#: Decisions that are kept in memory at most.
MOST = 1024

Key = tuple[str, ...]

_IDS = ("prompt_id", "turn_id", "agent_id")
#: What tells two events of one session apart where the agent gives them no number.
_CONTENT = ("tool_name", "tool_input", "prompt", "message", "file_path", "trigger")


def key_of(incoming: Incoming, *around: str) -> Key:
    """What the same event has in common, through whichever registration and in whichever agent's words it comes.

    Not the agent: one that reads another's file is asked for by that other's name. Its session is the same.
    """
    get = incoming.data.get
    call = get("tool_use_id")
    ids = [str(get(name) or "") for name in _IDS]
    content = "" if call else json.dumps([get(name) for name in _CONTENT], sort_keys=True, default=str)
    return (incoming.session, incoming.event, str(call or ""), *ids, content, *around)


@dataclass(frozen=True, slots=True, kw_only=True)
class Earlier:
    """What the hooks decided when the event came first. Of the data, only the fields that they changed are kept."""

    event_id: str
    registration: str
    decision: Decision

    def again(self, event: Event) -> Decision:
        """The same decision on the event as it came now."""
        decision = self.decision
        return replace(decision, data={**event.data, **decision.data} if decision.modified else event.data)


make_decision, make_earlier = maker(Decision), maker(Earlier)


class Turn(Protocol):
    """One asker's. With ``earlier`` it has its decision; without, it runs the hooks, and ``keep`` s what they decide."""

    @property
    def earlier(self) -> Earlier | None: ...

    def keep(self, event: Event, decision: Decision) -> None: ...

    def leave(self) -> None:
        """On every way out. Who leaves without a decision lets the next one run."""
        ...


class Deduper(Protocol):
    """Who remembers: a daemon in its memory, processes that come and go in a file."""

    def enter(self, key: Key, registration: str, until: float) -> Turn:
        """Waits while the same event is being decided, at most until then (``time.monotonic``; 0.0: for ever)."""
        ...


def narrowed(event: Event, registration: str, decision: Decision) -> Earlier:
    """What is worth keeping of it: not the data as they came, nor what became of each hook."""
    fields: Mapping[str, Any] = EMPTY
    if decision.modified:
        fields = {name: decision.data[name] for name in changed(event, decision) if name in decision.data}
    slim = make_decision(
        event=decision.event, effect=decision.effect, granted=decision.granted, reason=decision.reason,
        aborted=decision.aborted, data=fields, modified=decision.modified, context=decision.context,
        messages=decision.messages, attributes=decision.attributes, droppable=decision.droppable,
    )  # fmt: skip
    return make_earlier(event_id=event.id, registration=registration, decision=slim)


class _Moment:
    """One event: who has asked about it, and what was decided. Guarded by the lock of who remembers it."""

    __slots__ = ("asked", "at", "bell", "earlier", "running")

    def __init__(self, registration: str) -> None:
        self.asked = {registration}
        self.running = True
        self.earlier: Earlier | None = None
        self.at = 0.0
        #: There once somebody waits.
        self.bell: threading.Event | None = None


class Remembering:
    """For a process that stays: a dictionary of the latest events. Thread-safe."""

    __slots__ = ("_lock", "_moments", "running")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # To find the oldest of a plain dictionary again and again means to pass all that were taken out before it.
        self._moments: OrderedDict[Key, list[_Moment]] = OrderedDict()
        #: Events that are being decided: while it is 0, nobody has to wait.
        self.running = 0

    def enter(self, key: Key, registration: str, until: float) -> Turn:
        with self._lock:
            found = self._unasked(key, registration)
            if found is None:
                return self._first(key, registration)
            found.asked.add(registration)
            if found.earlier is not None:
                return _Told(found.earlier)
            if found.running:
                found.bell = found.bell or threading.Event()
        if found.bell is not None:
            found.bell.wait(max(until - monotonic(), 0.0) if until else None)
        with self._lock:
            if found.earlier is not None:
                return _Told(found.earlier)
            # The first one failed, or takes longer than we may wait.
            found.running = True
            self.running += 1
            return _Running(self, found, registration)

    def __len__(self) -> int:
        return len(self._moments)

    def would_wait(self, key: Key, registration: str) -> bool:
        if not self.running:
            return False
        with self._lock:
            found = self._unasked(key, registration)
            return found is not None and found.earlier is None

    def _unasked(self, key: Key, registration: str) -> _Moment | None:
        old = monotonic() - KEPT
        for moment in self._moments.get(key, ()):
            if registration not in moment.asked and (moment.earlier is None or moment.at > old):
                return moment
        return None

    def _first(self, key: Key, registration: str) -> _Running:
        moment = _Moment(registration)
        some = self._moments.get(key)
        if some is None:
            self._moments[key] = [moment]
            self._forget()
        else:
            old = monotonic() - KEPT
            some[:] = [one for one in some if one.earlier is None or one.at > old]
            some.append(moment)
        self.running += 1
        return _Running(self, moment, registration)

    def _forget(self) -> None:
        """The oldest go first; at most two for each that comes, so that no caller pays for all."""
        old = monotonic() - KEPT
        for _ in range(2):
            key = next(iter(self._moments))
            latest = self._moments[key][-1]
            if len(self._moments) <= MOST and (latest.running or latest.at > old):
                return
            if len(self._moments) == 1:
                return
            del self._moments[key]

    def conclude(self, moment: _Moment, earlier: Earlier | None) -> None:
        with self._lock:
            moment.earlier, moment.at, moment.running = earlier, monotonic(), False
            self.running -= 1
            bell, moment.bell = moment.bell, None
        if bell is not None:
            bell.set()


class _Told:
    """There is a decision already."""

    __slots__ = ("earlier",)

    def __init__(self, earlier: Earlier) -> None:
        self.earlier = earlier

    def keep(self, event: Event, decision: Decision) -> None:
        pass

    def leave(self) -> None:
        pass


class _Running:
    """The first one's turn."""

    __slots__ = ("_kept", "_moment", "_registration", "_remembering")
    earlier = None

    def __init__(self, remembering: Remembering, moment: _Moment, registration: str) -> None:
        self._remembering = remembering
        self._moment = moment
        self._registration = registration
        self._kept: Earlier | None = None

    def keep(self, event: Event, decision: Decision) -> None:
        self._kept = narrowed(event, self._registration, decision)

    def leave(self) -> None:
        self._remembering.conclude(self._moment, self._kept)
