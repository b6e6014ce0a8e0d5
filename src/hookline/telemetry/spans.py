"""From a recorded event to spans, made with the official SDK: one for the event, a child for each hook. Pure but for the SDK.

Ids come from the record, so that an event that is sent a second time is the same span and not another one.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from opentelemetry.sdk.resources import Resource
from opentelemetry.sdk.trace import Event as SpanEvent
from opentelemetry.sdk.trace import ReadableSpan
from opentelemetry.sdk.util.instrumentation import InstrumentationScope
from opentelemetry.trace import SpanContext, SpanKind, Status, StatusCode, TraceFlags

_PARENT = re.compile(r"00-([0-9a-f]{32})-([0-9a-f]{16})-[0-9a-f]{2}")
#: What an event is in the words of the GenAI conventions, where they have some.
_OPERATIONS = {
    "PreToolUse": "execute_tool", "PostToolUse": "execute_tool", "PostToolUseFailure": "execute_tool",
    "PermissionRequest": "execute_tool", "UserPromptSubmit": "chat", "PreModelRequest": "chat",
    "PostModelRequest": "chat", "AssistantMessage": "chat", "SubagentStart": "invoke_agent", "SubagentStop": "invoke_agent",
}  # fmt: skip
#: Tokens of a model hook -> the convention's name.
_USAGE = {"input_tokens": "gen_ai.usage.input_tokens", "output_tokens": "gen_ai.usage.output_tokens"}


def spans(
    event: Mapping[str, Any], runs: Sequence[Mapping[str, Any]], traceparent: str, resource: Resource, version: str
) -> Iterator[ReadableSpan]:
    """``event`` and ``runs`` have the fields of ``log --json``; ``traceparent`` is the agent's own, or ""."""
    scope = InstrumentationScope("hookline", version)
    parent = _parent(traceparent)
    trace = parent.trace_id if parent else _number(f"trace {event['id']}", 16)
    own = _context(trace, _number(f"event {event['id']}", 8))
    ended = int(event["time"] * 1e9) + int(event["ms"] * 1e6)
    began = int(event["time"] * 1e9)
    yield ReadableSpan(
        name=f"hookline {event['event']}", context=own, parent=parent, resource=resource, kind=SpanKind.INTERNAL,
        attributes=_event_attributes(event), start_time=began, end_time=max(ended, began), instrumentation_scope=scope,
        status=Status(StatusCode.ERROR, "aborted") if event["aborted"] else Status(StatusCode.UNSET),
        events=[SpanEvent("hookline.note", {"hookline.note.text": one["text"]}, began) for one in event["ignored"]],
    )  # fmt: skip
    at = began
    in_turn = sum(run["ms"] for run in runs) <= event["ms"] * 1.05 + 1
    for position, run in enumerate(runs):
        end = at + int(run["ms"] * 1e6)
        failed = run["status"] in {"failed", "timed-out"}
        yield ReadableSpan(
            name=f"hook {run['hook']}", context=_context(trace, _number(f"run {event['id']} {position}", 8)), parent=own,
            resource=resource, kind=SpanKind.INTERNAL, attributes=_run_attributes(run), start_time=at, end_time=end,
            instrumentation_scope=scope, status=Status(StatusCode.ERROR, run["error"] or "") if failed else Status(StatusCode.UNSET),
        )  # fmt: skip
        at = end if in_turn else at


def _parent(text: str) -> SpanContext | None:
    found = _PARENT.fullmatch(text.strip())
    if found is None or not int(found[1], 16) or not int(found[2], 16):
        return None
    return SpanContext(int(found[1], 16), int(found[2], 16), is_remote=True, trace_flags=TraceFlags(1))


def _context(trace: int, span: int) -> SpanContext:
    return SpanContext(trace, span, is_remote=False, trace_flags=TraceFlags(1))


def _number(text: str, size: int) -> int:
    return int.from_bytes(hashlib.blake2b(text.encode(errors="replace"), digest_size=size).digest(), "big") or 1


def _event_attributes(event: Mapping[str, Any]) -> dict[str, Any]:
    """No content of tools and prompts: what was decided, on what, by whose wish."""
    data = event["data"] if isinstance(event["data"], dict) else {}
    found: dict[str, Any] = {
        "gen_ai.operation.name": _OPERATIONS.get(event["event"]), "gen_ai.agent.name": event["agent"],
        "gen_ai.conversation.id": event["session"], "gen_ai.tool.name": data.get("tool_name"),
        "gen_ai.tool.call.id": data.get("tool_use_id"), "gen_ai.request.model": data.get("model"),
        "hookline.event": event["event"], "hookline.event.native": event["native_event"], "hookline.record": event["id"],
        "hookline.effect": event["effect"], "hookline.granted": event["granted"], "hookline.reason": event["reason"],
        "hookline.modified": event["modified"], "hookline.turn": event["turn"], "hookline.cwd": event["cwd"],
    }  # fmt: skip
    return {name: value for name, value in found.items() if isinstance(value, str | bool | int) and value != ""}


def _run_attributes(run: Mapping[str, Any]) -> dict[str, Any]:
    usage = run["usage"] if isinstance(run["usage"], dict) else {}
    found: dict[str, Any] = {
        "hookline.hook": run["hook"], "hookline.hook.id": run["hook_id"], "hookline.hook.dialect": run["dialect"],
        "hookline.hook.status": run["status"], "hookline.hook.effect": run["effect"], "process.exit.code": run["exit_code"],
        "error.type": run["status"] if run["status"] in {"failed", "timed-out"} else None,
        **{name: usage.get(key) for key, name in _USAGE.items()}, "gen_ai.request.model": usage.get("model"),
        "hookline.cost": usage.get("cost_usd"),
    }  # fmt: skip
    return {name: value for name, value in found.items() if isinstance(value, str | int | float) and value != ""}
