"""What an agent asks, understood: the words of its registration, its payload, and where its hooks are looked up.

Everything a caller brings is a value: words, standard input, environment and directory.
"""

from __future__ import annotations

import os
from time import monotonic
from typing import TYPE_CHECKING, Any

from hookline.config.discover import surroundings
from hookline.core._dataclass import dataclass, maker
from hookline.core.event import Event, kind_of
from hookline.core.paths import Paths, paths_of
from hookline.dialects import dialect_for_payload
from hookline.gateway.args import HOOK_WORDS, plainly, seconds_of
from hookline.gateway.dedupe import key_of
from hookline.gateway.payload import event_name, payload_of

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from hookline.dialects.base import Dialect, Incoming
    from hookline.gateway.dedupe import Key


@dataclass(frozen=True, slots=True, kw_only=True)
class HookArguments:
    """What the command line says."""

    agent: str
    event: str = ""
    dialect: str | None = None
    config: tuple[str, ...] = ()
    #: Which registration calls; "" where a person wrote it by hand.
    registration: str = ""
    #: Seconds until the agent is answered, one way or the other; 0.0: nobody has said.
    deadline: float = 0.0
    #: Some hook must not be skipped: what hookline cannot do is refused.
    closed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentRequest:
    """A payload that was understood, and the surroundings in which its hooks are looked up."""

    asked: HookArguments
    speaker: Dialect
    payload: Mapping[str, Any]
    name: str
    incoming: Incoming
    #: Where the caller stands; ``cwd`` is where the agent says it works.
    here: str
    cwd: str
    environ: Mapping[str, str]
    home: str
    paths: Paths
    #: When hooks must be done, so that there is time for an answer (``time.monotonic``); 0.0: they have their own limits.
    until: float = 0.0
    #: Tells the number of the process that asks, to whoever needs it; None: it is this one, or nobody knows.
    asker: Callable[[], int] | None = None

    def options(self) -> dict[str, Any]:
        """How ``assemble`` is to be called."""
        config = [os.path.join(self.here, file) for file in self.asked.config]
        return {
            "cwd": self.cwd, "config": config or None, "dialect": self.asked.dialect, "environ": self.environ,
            "home": self.home, "agent": self.asked.agent, "live": False, "agents_door": True, "paths": self.paths,
        }  # fmt: skip


_make_heard = maker(AgentRequest)


def asked_of(args: Any) -> HookArguments:
    """From what a parser found."""
    return HookArguments(
        agent=args.agent, event=args.event, dialect=args.dialect, config=tuple(args.config),
        registration=args.registration, deadline=seconds_of(args.deadline),
        closed=args.on_failure == "deny",
    )  # fmt: skip


def _own_time(deadline: float) -> float:
    """Seconds of a deadline that are not for hooks: to end them, to write down what they said, to answer."""
    return min(5.0, deadline / 4)


def asked_plainly(words: Sequence[str]) -> HookArguments | None:
    """From the words themselves; None when they need a parser."""
    args = plainly(words, HOOK_WORDS)
    return None if args is None else asked_of(args)


def heard(
    asked: HookArguments,
    stdin: bytes,
    environ: Mapping[str, str],
    here: str,
    around: Callable[[str, Mapping[str, str]], tuple[str, Paths]] | None = None,
    *,
    asker: Callable[[], int] | None = None,
) -> AgentRequest:
    """Raises ``UsageError`` and ``DataError``. ``around`` is ``home_and_paths``, or one that remembers."""
    payload = payload_of(stdin)
    speaker = dialect_for_payload(asked.agent, payload)
    name = asked.event or event_name(payload)
    incoming = speaker.event_in(name, payload, environ)
    cwd = incoming.cwd or here
    if not cwd.startswith("/"):
        cwd = os.path.join(here, cwd)
    home, paths = (around or home_and_paths)(cwd, environ)
    return _make_heard(
        asked=asked, speaker=speaker, payload=payload, name=name, incoming=incoming, here=here, cwd=cwd,
        environ=environ, home=home, paths=paths,
        until=monotonic() + asked.deadline - _own_time(asked.deadline) if asked.deadline else 0.0,
        asker=asker,
    )  # fmt: skip


def home_and_paths(cwd: str, environ: Mapping[str, str]) -> tuple[str, Paths]:
    home, own = surroundings(cwd, environ)
    return home, paths_of(own, home)


def same(one: AgentRequest) -> Key:
    """What the same event has in common, through whichever registration it comes."""
    return key_of(one.incoming, one.cwd, one.asked.dialect or "", *one.asked.config)


def bare_event(one: AgentRequest) -> Event:
    """The event as it came, where there is no engine to make it."""
    incoming = one.incoming
    return Event(
        kind=kind_of(incoming.event), data=incoming.data, session=incoming.session, agent=one.asked.agent, cwd=one.cwd,
        environ=one.environ, native=one.payload, native_name=incoming.native_name or one.name,
    )  # fmt: skip
