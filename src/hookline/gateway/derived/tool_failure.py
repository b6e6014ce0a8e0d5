"""PostToolUseFailure, for agents that fire PostToolUse whatever came of the tool.

One call is one event: a call that failed is told as a failure instead, as by the agents that have an event for it.
"""

from __future__ import annotations

import time
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.agents import Agent
from hookline.core.event import Event, event_kind
from hookline.gateway.derived import DerivedContext

#: An agent may still be writing down how a command ended while it fires the event: seconds to wait before looking again.
_AGAIN = (0.0, 0.03, 0.1)


def as_failure(event: Event, scene: DerivedContext, agent: Agent) -> Event:
    """The event itself, or the failure that it really is."""
    error = _error(event, scene, agent)
    if error is None:
        return event
    data = {name: value for name, value in event.data.items() if name != "tool_output"}
    data |= {"tool_error": {"type": "error", "message": error}, "derived": ["event"], "derived_from": "PostToolUse"}
    return replace(event, kind=event_kind("PostToolUseFailure"), data=data)


def as_fired(event: Event) -> Event:
    """A failure that an agent tells within its PostToolUse, for hooks that know of nothing else."""
    data = {name: value for name, value in event.data.items() if name not in {"tool_error", "derived"}}
    error = event.data.get("tool_error")
    data["tool_output"] = error.get("message", "") if isinstance(error, dict) else ""
    return replace(event, kind=event_kind("PostToolUse"), data=data)


def _error(event: Event, scene: DerivedContext, agent: Agent) -> str | None:
    """What went wrong; None if nothing is known to have."""
    data = event.data
    output = data.get("tool_output")
    text = output if isinstance(output, str) else ""
    response = data.get("tool_response")
    if isinstance(response, dict) and (response.get("isError") is True or response.get("is_error") is True):
        return text or "the tool says that it failed"
    if agent.failures == "transcript":
        return _in_transcript(event, scene, text, agent)
    if agent.failures != "output" or data.get("tool_name") != "Bash":
        return None
    from hookline.transcripts import reader_class  # few agents need it

    return reader_class(agent.name).shell_failure(text)


def _in_transcript(event: Event, scene: DerivedContext, text: str, agent: Agent) -> str | None:
    """The payload has the output alone; whether the command failed stands in the transcript."""
    from hookline.transcripts import tool_result, transcript_path  # few agents need it

    call = event.data.get("tool_use_id")
    path = transcript_path(agent.name, event.data, scene.home)
    if not path or not isinstance(call, str) or not call:
        return None
    result: Any = None
    for pause in _AGAIN if event.data.get("tool_name") == "Bash" else _AGAIN[:1]:
        time.sleep(pause)
        result = tool_result(path, call, agent.name)
        if result is not None:
            break
    if result is None or not result.failed:
        return None
    return text or result.text or "the tool failed"
