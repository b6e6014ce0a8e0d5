"""How long an agent waits for an answer: as long as the hooks of its event may take, and less than the agent gives us.

An agent goes on with what it was about to do when its own time is over, so hookline answers first.
"""

from __future__ import annotations

from collections.abc import Sequence
from time import monotonic
from typing import TYPE_CHECKING

from hookline.core.agents import LONGEST
from hookline.gateway.derived import BASES, calling_agent

if TYPE_CHECKING:
    from hookline.core.hook import HookSpec
    from hookline.gateway.request import AgentRequest

#: Seconds that hookline has for itself, and the least that it takes before it gives up.
_OWN, LEAST = 10.0, 60.0


def answer_seconds(specs: Sequence[HookSpec], event: str, agent: str, given: float = 0.0) -> float:
    """Seconds until the agent must have an answer; ``given`` is the most if it is not 0."""
    known = calling_agent(agent)
    most = (known.time_limit(event) if known is not None else LONGEST) - 1
    if given:
        most = min(most, given)
    # One after the other, in the worst case; hooks of an event that is derived from this one run in its time.
    needed = _OWN
    for spec in specs:
        if spec.enabled and (spec.event == event or event in BASES.get(spec.event, ())):
            needed += most if spec.timeout is None else spec.timeout
    return min(max(LEAST, needed), most)


def with_deadline(request: AgentRequest, specs: Sequence[HookSpec]) -> AgentRequest:
    """The request, with the moment by which its hooks must be done."""
    arguments = request.arguments
    seconds = answer_seconds(specs, request.incoming.event, arguments.agent, arguments.deadline)
    return request.until_then(monotonic() + seconds - _reserved_seconds(seconds))


def _reserved_seconds(deadline: float) -> float:
    """The part of a deadline that is not for hooks: to end them, to record, to answer."""
    return min(5.0, deadline / 4)
