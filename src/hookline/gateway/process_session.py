"""The session of an agent that does not name it with every event: what its process named last."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.core.agents import Agent
from hookline.core.processes import find_owner
from hookline.gateway.derived import open_sessions

if TYPE_CHECKING:
    from hookline.gateway.request import AgentRequest

#: Where an agent says which session it is in from now on; elsewhere an id may be a subagent's.
_NAMING = frozenset({"SessionStart", "UserPromptSubmit"})


def with_session(request: AgentRequest, agent: Agent) -> AgentRequest:
    """The request with its session: the named one, else the one that its process named last, else the process itself."""
    incoming, state = request.incoming, request.paths.state
    owner = None if request.caller_pid is None else find_owner(request.caller_pid())
    place = f"process {owner.pid} since {owner.began}" if owner else f"directory {request.cwd}"
    if not incoming.session:
        session = open_sessions.find_current(state, agent.name, place) or f"{agent.name}, {place}"
        return replace(request, incoming=replace(incoming, session=session))
    if incoming.event in _NAMING:
        open_sessions.name_current(state, agent.name, place, incoming.session, time.time())
    return request
