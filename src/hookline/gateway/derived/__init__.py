"""Events that an agent does not fire, derived from those it fires, and prompts that nobody typed.

The data of a derived event has ``derived``, the list of what was derived (``event`` for the event itself), and
``derived_from``, the event of the agent that it comes from. Nothing is derived that no hook listens to.

Every event of every agent looks into these tables, so this module holds nothing else but the way in.
"""

from __future__ import annotations

from types import MappingProxyType

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agents import AGENTS, find_agent, full_name
from hookline.core.typed import TYPE_CHECKING
from hookline.dialects import ALIASES, DIALECTS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from hookline.core.agents import Agent
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.engine.engine import Engine

    Finish = Callable[[Event, Decision], Decision]

#: A derived event -> the events of the agent that it is derived from. Whoever registers an agent's hooks needs these.
BASES: Mapping[str, tuple[str, ...]] = MappingProxyType(
    {
        "RunStart": ("SessionStart",),
        "RunEnd": ("SessionEnd", "SessionStart", "Stop"),
        "SessionEnd": ("SessionStart", "Stop"),
        "AssistantMessage": ("Stop",),
        "PostToolUseFailure": ("PostToolUse",),
    }
)

#: From all other events nothing is derived.
EVENTS = frozenset({"SessionStart", "SessionEnd", "UserPromptSubmit", "Stop", "PostToolUse", "PostToolUseFailure"})


@dataclass(frozen=True, slots=True, kw_only=True)
class DerivedContext:
    """What else must be known: which agent, and where its files and ours are."""

    agent: str
    home: str
    #: Our state directory.
    state: str = ""
    environ: Mapping[str, str] = field(default_factory=empty, repr=False)
    #: The process that calls for the agent, negative where it is the agent itself; 0 where it is unknown.
    caller: int = 0


def derives(agent: str, event: str) -> bool:
    """Whether anything is derived from this event of this agent."""
    return event in EVENTS and calling_agent(agent) is not None


def calling_agent(name: str) -> Agent | None:
    """The agents for which events are derived. Shells and our own agent fire all of theirs themselves."""
    known = AGENTS.get(full_name(name))
    return find_agent(name) if known is None and name not in DIALECTS and name not in ALIASES else known


def fire_with_derived(engine: Engine, event: Event, context: DerivedContext, finish: Finish | None = None) -> Decision:
    """``engine.fire_event``, with everything that is derived from this event fired around it.

    Text from hooks of derived events is part of the decision, so that it reaches the agent where this event can carry
    it. ``finish`` gets the agent's own event.
    """
    agent = calling_agent(context.agent) if event.kind.name in EVENTS else None
    if agent is None:
        return engine.fire_event(event, finish)
    from hookline.gateway.derived.fire import fire_around

    return fire_around(engine, event, context, agent, finish)
