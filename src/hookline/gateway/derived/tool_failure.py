"""PostToolUseFailure, for agents that fire PostToolUse whatever came of the tool.

One call is one event: a call that failed is told as a failure instead, as by the agents that have an event for it.
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.core.event import kind_of

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.gateway.derived import Scene

_COPILOT = re.compile(r"<shellId: \S+ completed with exit code (-?\d+)>\s*\Z")
#: Codex may still be writing down how a command ended while it fires the event: seconds to wait before looking again.
_AGAIN = (0.0, 0.03, 0.1)


def as_failure(event: Event, scene: Scene, agent: str) -> Event:
    """The event itself, or the failure that it really is."""
    error = _error(event, scene, agent)
    if error is None:
        return event
    data = {name: value for name, value in event.data.items() if name != "tool_output"}
    data |= {"tool_error": {"type": "error", "message": error}, "derived": ["event"], "derived_from": "PostToolUse"}
    return replace(event, kind=kind_of("PostToolUseFailure"), data=data)


def as_fired(event: Event) -> Event:
    """A failure that an agent tells within its PostToolUse, for hooks that know of nothing else."""
    data = {name: value for name, value in event.data.items() if name not in {"tool_error", "derived"}}
    error = event.data.get("tool_error")
    data["tool_output"] = error.get("message", "") if isinstance(error, dict) else ""
    return replace(event, kind=kind_of("PostToolUse"), data=data)


def _error(event: Event, scene: Scene, agent: str) -> str | None:
    """What went wrong; None if nothing is known to have."""
    data = event.data
    output = data.get("tool_output")
    text = output if isinstance(output, str) else ""
    response = data.get("tool_response")
    if isinstance(response, dict) and (response.get("isError") is True or response.get("is_error") is True):
        return text or "the tool says that it failed"
    if agent == "codex":
        return _codex(event, scene, text)
    if data.get("tool_name") != "Bash":
        return None
    if agent == "gemini-cli":
        from hookline.transcripts.parts import shell_failed  # of one agent only

        return text if shell_failed(text) else None
    if agent == "copilot-cli":
        found = _COPILOT.search(text)
        return f"exit code {found[1]}\n{text[: found.start()]}" if found and found[1] != "0" else None
    return None


def _codex(event: Event, scene: Scene, text: str) -> str | None:
    """Its payload has the output alone; whether the command failed stands in the transcript."""
    from hookline.transcripts import result_of, transcript_of  # of one agent only

    call = event.data.get("tool_use_id")
    path = transcript_of("codex", event.data, scene.home)
    if not path or not isinstance(call, str) or not call:
        return None
    result: Any = None
    for pause in _AGAIN if event.data.get("tool_name") == "Bash" else _AGAIN[:1]:
        time.sleep(pause)
        result = result_of(path, call, "codex")
        if result is not None:
            break
    if result is None or not result.failed:
        return None
    return text or result.text or "the tool failed"
