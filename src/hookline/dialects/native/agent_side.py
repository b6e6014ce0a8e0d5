"""An agent that speaks the native wire: what it sends, and how it is answered."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.core.serialize import context_shape, message_shape
from hookline.dialects.base import Answer, Incoming
from hookline.dialects.native.wire import DENIED, as_json


def event_in(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """The object that ``event_out`` writes, read back; fields beside ``data`` that we do not know go into it, unless they
    are Claude Code's copy of it."""
    del environ
    given = payload.get("data")
    envelope = {"event", "data", "session", "turn", "agent", "cwd", "time", "mode", "hook_event_name"}
    data: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    for key, value in payload.items():
        if key not in envelope and not (data and "hook_event_name" in payload):
            data.setdefault(key, value)
    for key in ("turn", "agent"):
        if key in payload:
            data.setdefault(key, payload[key])
    event = name or _text(payload, "event") or _text(payload, "hook_event_name")
    return Incoming(
        event=event,
        data=data,
        session=_text(payload, "session") or _text(data, "session_id"),
        cwd=_text(payload, "cwd") or _text(data, "cwd"),
        native_name=event,
    )


def _text(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping.get(key, "")
    return value if isinstance(value, str) else ""


def reply_out(event: Event, decision: Decision) -> Answer:
    """JSON on stdout, and a deny also as exit 2 with its reason on stderr: either way of reading it works."""
    denied = decision.effect == "deny" or decision.aborted is not None
    reason = decision.reason or (decision.aborted.message if decision.aborted else "")
    answer: dict[str, Any] = {
        "effect": "deny" if denied else decision.effect if decision.granted or decision.effect == "ask" else None,
        "reason": reason or None,
        "data": _changed(event, decision) if decision.modified else None,
        "context": [context_shape(injected) for injected in decision.context] or None,
        "messages": [message_shape(message) for message in decision.messages] or None,
        "attributes": dict(decision.attributes) or None,
    }
    fields = {key: value for key, value in answer.items() if value is not None}
    stdout = json.dumps(fields, default=as_json) + "\n" if fields else ""
    if denied:
        return Answer(stdout=stdout, stderr=(reason or "denied") + "\n", exit_code=DENIED)
    return Answer(stdout=stdout)


def _changed(event: Event, decision: Decision) -> dict[str, Any]:
    return {key: value for key, value in decision.data.items() if key not in event.data or event.data[key] != value}
