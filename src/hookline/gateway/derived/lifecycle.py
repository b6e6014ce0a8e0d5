"""What is made up at the beginning and the end of a session and of an answer: pure, from values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.core.event import event_kind

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.event import Event
    from hookline.engine.engine import Engine

#: Ways in which a session starts that is already running.
_RUNNING = frozenset({"compact"})
_BROKEN = frozenset({"error", "timeout", "abort"})


def _derive(engine: Engine, event: Event, name: str, data: Mapping[str, Any], *more: str) -> Event:
    """An event of this name at the same moment, in the same session; ``more`` was made up besides."""
    kept = {key: event.data[key] for key in _KEPT if key in event.data}
    whole = {**kept, **data, "derived": ["event", *more], "derived_from": event.kind.name}
    return replace(event, kind=event_kind(name), data=whole, id=engine.event(name, whole).id)


_KEPT = ("session_id", "transcript_path", "cwd", "model", "agent_id", "conversation_id", "permission_mode")


def run_start(engine: Engine, event: Event) -> Event | None:
    if str(event.data.get("source")) in _RUNNING:
        return None
    return _derive(engine, event, "RunStart", {"run_id": event.session, "source": event.data.get("source")})


def run_end(engine: Engine, event: Event, tokens: dict[str, int] | None, started: float) -> Event:
    reason = event.data.get("reason")
    told: dict[str, Any] = {"run_id": event.session, "status": "error" if str(reason) in _BROKEN else "success"}
    if told["status"] == "error":
        told["error_message"] = f"the session ended: {reason}"
    if tokens is not None:
        told["tokens"] = tokens
    lasted = event.data.get("duration_ms")
    if isinstance(lasted, int | float):
        told["duration_ms"] = lasted
    elif started:
        told["duration_ms"] = max(0, round((event.time - started) * 1000))
    return _derive(engine, event, "RunEnd", told, *(("tokens",) if tokens is not None else ()))


def assistant_message(engine: Engine, event: Event, message: str, tokens: dict[str, int] | None) -> Event:
    """The last reply of a turn: its tool calls, if it had any, are done. ``final_pass_count`` says how often the agent
    was sent on in this turn."""
    told: dict[str, Any] = {"message": message, "tool_use_done": True, "loop_count": 0}
    sent_on = event.data.get("continuations")
    told["final_pass_count"] = sent_on if isinstance(sent_on, int) else 0
    if tokens is not None:
        told["tokens"] = tokens
    return _derive(engine, event, "AssistantMessage", told, *(("tokens",) if tokens is not None else ()))


def session_end(engine: Engine, event: Event, session: str, transcript: str) -> Event:
    """The end of another session of the same agent and project, which said nothing when it went."""
    data: dict[str, Any] = {
        "session_id": session, "reason": "other", "cwd": event.cwd, "derived": ["event"],
        "derived_from": event.kind.name,
    }  # fmt: skip
    if transcript:
        data["transcript_path"] = transcript
    return replace(
        event, kind=event_kind("SessionEnd"), data=data, id=engine.event("SessionEnd", data).id, session=session, turn=0,
        native={}, native_name="",
    )  # fmt: skip
