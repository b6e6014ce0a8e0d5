"""What happened: the table of all events, one row each, and ``Event``, one happening.

Everything that the engine needs to know about an event stands in its row. If a new event needs an ``if``
somewhere else, the row lacks a column.
"""

from __future__ import annotations

import os
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.event_table import ROWS, Flow

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

_Family = Literal["agent", "shell", "unknown"]


@dataclass(frozen=True, slots=True, kw_only=True)
class EventKind:
    """One row of ``EVENTS``."""

    name: str
    family: _Family
    about: str
    #: The field of the data that a hook's ``match`` is tried on; None: ``match`` by name does not apply.
    subject: str | None = None
    #: What a deny stops, in words a person understands; "" when it has already happened.
    denies: str = ""
    #: Top-level fields of the data that a hook may change; the others are restored and the attempt recorded.
    modifies: frozenset[str] = frozenset()
    #: Whether text of a hook can reach the model or the person's session.
    injects: bool = False
    #: How hooks run that do not say it themselves.
    flow: Flow = "chain"
    #: The field that ``message_contains`` looks at.
    message: str | None = None
    #: A deny makes the agent go on working, so a loop guard counts it.
    continues: bool = False
    #: A typed one opens a new turn of the session.
    opens_turn: bool = False
    #: Background hooks of the session are awaited first; if one failed, the event says so.
    joins: bool = False
    #: The documented fields of the data, in order; others are kept and passed on.
    fields: tuple[str, ...] = ()

    @property
    def deniable(self) -> bool:
        return bool(self.denies)


def _row(family: _Family, columns: Mapping[str, Any]) -> EventKind:
    return EventKind(family=family, **columns)


EVENTS: Mapping[str, EventKind] = MappingProxyType({columns["name"]: _row(family, columns) for family, columns in ROWS})

#: Fields that every agent event may carry.
COMMON_FIELDS = (
    "session_id", "turn", "auto_submit", "agent", "agent_id", "conversation_id", "model", "interlocutor",
    "file", "cwd", "transcript_path", "history", "contexts", "synthetic", "derived", "derived_from",
)  # fmt: skip


def event_kind(name: str) -> EventKind:
    """The row of a canonical name; an event without a row is carried, not lost."""
    known = EVENTS.get(name)
    if known is not None:
        return known
    return EventKind(name=name, family="unknown", about="An event that hookline has no row for.", flow="parallel")


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """One happening, as every hook of every dialect can be told about it."""

    kind: EventKind
    data: Mapping[str, Any]
    id: str = ""
    session: str = ""
    #: Typed user turns so far, from 1; 0 before the first.
    turn: int = 0
    agent: str = "hookline"
    role: str = "user"
    #: The session mode that a hook set (lash); "" when none is set.
    mode: str = ""
    #: Counts the firings of this kind in this session, so that a late answer can be told from a current one.
    generation: int = 0
    cwd: str = ""
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    #: Seconds since the epoch.
    time: float = 0.0
    #: When nobody waits for an answer any more, by the clock ``time.monotonic``; 0.0: somebody always does.
    until: float = 0.0
    #: The payload as an agent sent it, and the name it used; empty for our own events.
    native: Mapping[str, Any] = field(default_factory=empty, repr=False)
    native_name: str = ""


def event_ids() -> Callable[[], str]:
    """Short, unique across processes, and sortable within one."""
    prefix, number = os.urandom(5).hex(), count(1)
    return lambda: f"{prefix}{next(number):x}"
