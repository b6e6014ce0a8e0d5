"""One event that arrives through two registrations is one event: its hooks run once, and both get the same decision.

Several agents read one another's files, and a person may register hookline for themselves and for the project. Whoever
comes second, through another registration, waits for the first and gets its decision; if the first dies, the second runs
the hooks. Two equal calls through one registration are two events: the first of one registration is the first of the
other's.
"""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import EMPTY, dataclass, fast_constructor, replace
from hookline.core.event import Event
from hookline.core.fast_json import writer
from hookline.core.result import Decision
from hookline.core.typed import Any, Protocol
from hookline.dialects.base import Incoming

#: Seconds for which a decision is repeated. An agent that runs its hooks one after the other comes with the second
#: registration when the first has ended.
KEPT_SECONDS = 30.0

Key = tuple[str, ...]

_IDS = ("prompt_id", "turn_id", "agent_id")
#: What distinguishes two events of one session where the agent gives them no id.
_CONTENT = ("tool_name", "tool_input", "prompt", "message", "file_path", "trigger")
_write_content = writer(str, sort_keys=True)


def event_key(incoming: Incoming, *around: str) -> Key:
    """Equal for the same event, whichever registration it comes through and in whichever agent's format.

    The agent is not part of it: one that reads another's file calls under that other's name. Its session is the same.
    """
    get = incoming.data.get
    call = get("tool_use_id")
    ids = [str(get(name) or "") for name in _IDS]
    content = "" if call else _write_content([get(name) for name in _CONTENT])
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
