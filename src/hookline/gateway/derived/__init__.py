"""Events that an agent does not fire, made up from its own data, and what it fires that nobody typed.

A made-up event says so: its data has ``derived``, the list of what was made up (``event`` for the event itself), and
``derived_from``, the event of the agent that it was made up at. Nothing is made up that no hook listens to.

This module is passed by every event of every agent, so it holds only tables and the way in.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agents import AGENTS, find_agent, full_name
from hookline.dialects import ALIASES, DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.core.agents import Agent
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.engine.engine import Engine

    Finish = Callable[[Event, Decision], Decision]

#: A made-up event -> the events of the agent at which it is made up. Whoever registers an agent's hooks needs these.
BASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "RunStart": ("SessionStart",),
        "RunEnd": ("SessionEnd", "SessionStart", "Stop"),
        "SessionEnd": ("SessionStart", "Stop"),
        "AssistantMessage": ("Stop",),
        "PostToolUseFailure": ("PostToolUse",),
    }
)

#: At all other events there is nothing to do.
_FRUITFUL = frozenset({"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PostToolUse", "PostToolUseFailure"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Scene:
    """What else must be known: who asks, and where its files and ours are."""

    agent: str
    home: str
    #: Our state directory.
    state: str = ""
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    #: The process that asks for the agent, negative where it is the agent itself; 0 when that is not known.
    caller: int = 0


def fruitful(agent: str, event: str) -> bool:
    """Whether anything can be made up or found out at this event of this agent."""
    return event in _FRUITFUL and _agent(agent) is not None


def _agent(name: str) -> Agent | None:
    """The agents for which events are made up. Shells and our own agent fire all of theirs themselves."""
    known = AGENTS.get(full_name(name))
    return find_agent(name) if known is None and name not in DIALECTS and name not in ALIASES else known


def fired(engine: Engine, event: Event, scene: Scene, finish: Finish | None = None) -> Decision:
    """``engine.fire_event``, with everything that is made up at this event fired around it.

    What hooks of a made-up event said to the model and the person is part of the decision, so that it reaches the agent
    where this event can carry it. ``finish`` is given the agent's own event.
    """
    agent = _agent(scene.agent) if event.kind.name in _FRUITFUL else None
    if agent is None:
        return engine.fire_event(event, finish)
    from hookline.gateway.derived.fire import fire_around  # noqa: PLC0415  most events have nothing around them

    return fire_around(engine, event, scene, agent, finish)
