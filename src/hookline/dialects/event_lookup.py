"""What each dialect calls an event, and which one another name probably stands for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import cache

from hookline.core.agents import Agent
from hookline.core.errors import UsageError
from hookline.core.event import EVENTS
from hookline.dialects import DIALECTS, dialect_named

#: At most so many guesses: more are a list, and there is a command for that.
_GUESSES = 3
#: Where all of them are.
_ALL = "hookline list --events"


@cache
def _native_events(dialect: str) -> Mapping[str, str]:
    found: dict[str, str] = {}
    for theirs, ours in dialect_named(dialect).events.items():
        if ours in EVENTS:
            found.setdefault(ours, theirs)
    return found


def native_events(agent: Agent) -> Mapping[str, str]:
    """Canonical -> the agent's own name of every event that can be registered with it."""
    return {ours: theirs for ours, theirs in _native_events(agent.dialect).items() if ours not in agent.unregistered}


def event_names(event: str) -> Mapping[str, tuple[str, ...]]:
    """Dialect -> its own names of a canonical event, for those that have it; ours are the canonical ones."""
    names_by_dialect = {
        dialect: tuple(theirs for theirs, ours in dialect_named(dialect).events.items() if ours == event)
        for dialect in DIALECTS
        if dialect != "native"
    }
    return {dialect: names for dialect, names in names_by_dialect.items() if names}


def canonical_event(name: str, dialect: str) -> str:
    """The canonical name of an event given in any dialect, or spelled loosely."""
    if name in EVENTS or ":" in name:
        return name
    for speaker in (dialect, *DIALECTS):
        if name in (known := dialect_named(speaker).events):
            return known[name]
    loose = {_plain(event): event for event in EVENTS}
    if _plain(name) in loose:
        return loose[_plain(name)]
    raise unknown_event(name, dialect)


def event_meanings(name: str) -> frozenset[str]:
    """The canonical events that some dialect calls so; a name that none knows is an error."""
    if name in EVENTS or ":" in name:
        return frozenset({name})
    theirs = frozenset(_elsewhere(name).values())
    if not theirs:
        raise unknown_event(name)
    return theirs


def expand_event_name(name: str) -> frozenset[str]:
    """The name itself, and the canonical one if it means the same in every dialect that has it."""
    canonical = event_meanings(name)
    return canonical | {name} if len(canonical) == 1 else frozenset({name})


def unknown_event(name: str, dialect: str | None = None) -> UsageError:
    """The error for a name that is no event, with likely names and where all events are listed."""
    return UsageError(f"unknown event {name!r}{_guess(name, dialect)} All events: {_ALL}")


def _guess(name: str, dialect: str | None) -> str:
    if theirs := _elsewhere(name):
        means = " and ".join(f"{ours} in {whose}" for whose, ours in theirs.items())
        say_so = "" if dialect else f", or add --dialect {'|'.join(theirs)}"
        return f"; it means {means}: write {' or '.join(dict.fromkeys(theirs.values()))}{say_so}."
    likely = guesses(name, (*EVENTS, *(dialect_named(dialect).events if dialect else ())))
    return f"; did you mean {_either(likely)}?" if likely else "."


def _elsewhere(name: str) -> dict[str, str]:
    """Dialect -> what the name means there, where it is a name of another dialect to the letter."""
    meanings = {dialect: dialect_named(dialect).events.get(name) for dialect in DIALECTS}
    return {dialect: ours for dialect, ours in meanings.items() if ours is not None and ours != name}


def guesses(name: str, known: Iterable[str]) -> tuple[str, ...]:
    """The likeliest first: the same letters, then names it is a part of, then those that look like it.

    What is written in another dialect's manner counts as well, for the event it means.
    """
    from difflib import get_close_matches  # only a mistake pays for it

    wanted = _plain(name)
    if not wanted:
        return ()
    words: dict[str, str] = {}
    for one in known:
        words.setdefault(_plain(one), one)
    for dialect in DIALECTS:
        for theirs, ours in dialect_named(dialect).events.items():
            words.setdefault(_plain(theirs), ours)
    if wanted in words:
        return (words[wanted],)
    parts = sorted((one for one in words if wanted in one), key=lambda one: (not one.startswith(wanted), len(one)))
    near = get_close_matches(wanted[:80], words, n=_GUESSES, cutoff=0.8) or get_close_matches(wanted[:80], words, n=1)
    found = parts if parts and len(wanted) > 2 else near
    return tuple(dict.fromkeys(words[one] for one in found))[:_GUESSES]


def _plain(name: str) -> str:
    return "".join(char for char in name.casefold() if char.isalnum())


def _either(names: tuple[str, ...]) -> str:
    *first, last = map(repr, names)
    return f"{', '.join(first)} or {last}" if first else last
