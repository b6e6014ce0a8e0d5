"""Letta Code as the agent that calls us: its payload in our words, our decision in its words."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from hookline.core.event import Event
from hookline.core.result import Decision
from hookline.core.tool_names import tool_fields
from hookline.dialects.base import Answer, Incoming
from hookline.dialects.claude_family.capabilities import CAPABILITIES, feasible
from hookline.dialects.claude_family.payload import as_text
from hookline.dialects.claude_family.reply import to_json
from hookline.dialects.letta.config import canonical_event

#: Any code that is neither 0 (approves) nor 2 (denies) leaves a permission to the person.
_NEUTRAL = 1

_RENAMED = {"tool_call_id": "tool_use_id", "working_directory": "cwd"}


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────


def event_in(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """Every field survives; those that have a name of ours are found under it as well."""
    native = str(payload.get("event_type") or name or environ.get("LETTA_HOOK_EVENT", ""))
    data = {key: value for key, value in payload.items() if key != "event_type"}
    data |= {ours: payload[theirs] for theirs, ours in _RENAMED.items() if theirs in payload}
    event = canonical_event(native)
    cwd = str(payload.get("working_directory") or environ.get("LETTA_WORKING_DIR", ""))
    if isinstance(payload.get("tool_name"), str):
        data |= tool_fields(payload["tool_name"], payload.get("tool_input"), cwd)
    if native == "PostToolUse":
        event = _after_tool(event, payload, data)
    if native == "PostToolUseFailure":
        data["tool_error"] = {"type": payload.get("error_type") or "tool_error", "message": _message(payload)}
    if native == "SessionStart":
        data["source"] = "resume" if payload.get("is_new_session") is False else "startup"
    return Incoming(
        event=event,
        data=data,
        session=_session(native, payload),
        cwd=cwd,
        native_name=native,
    )


def _session(native: str, payload: Mapping[str, Any]) -> str:
    """The conversation, as its transcript names it; "" where it is not named, or is a subagent's.

    Every agent has a conversation called ``default``.
    """
    if given := payload.get("session_id"):
        return str(given)
    conversation = as_text(payload.get("conversation_id")) if native != "SubagentStop" else ""
    if conversation != "default":
        return conversation
    return as_text(payload.get("agent_id")).removeprefix("agent-").removeprefix("local-")


def _after_tool(event: str, payload: Mapping[str, Any], data: dict[str, Any]) -> str:
    """Letta Code also calls this after failures, which have an event of their own: that call is only carried."""
    result = payload.get("tool_result")
    if not isinstance(result, dict):
        return event
    if result.get("status") == "error":
        return f"letta:{event}"
    data["tool_output"] = result.get("output", "")
    return event


def _message(payload: Mapping[str, Any]) -> str:
    """The parts of a tool's result arrive as JSON in a text; people want the text in them."""
    message = payload.get("error_message")
    if not isinstance(message, str) or not message.startswith("["):
        return str(message or "")
    try:
        parts = json.loads(message)
    except (ValueError, RecursionError):
        return message
    texts = [part["text"] for part in parts if isinstance(part, dict) and isinstance(part.get("text"), str)]
    return "\n".join(texts) or message


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


def reply_out(event: Event, decision: Decision) -> Answer:
    """Exit 2 with the reason on stderr is the only deny Letta Code obeys; an ask or a rewrite that it cannot carry out
    exactly becomes one that says so."""
    name, possible = event.kind.name, feasible(CAPABILITIES["letta"], event, decision)
    fed_back = name == "PostToolUse" and (decision.effect == "deny" or decision.aborted is not None)
    if possible.effect == "deny" or fed_back:
        return Answer(
            stderr=possible.reason or decision.refusal_text, exit_code=2, lost=() if fed_back else possible.lost
        )
    if name == "PermissionRequest":
        code = 0 if decision.granted and decision.effect == "allow" else _NEUTRAL
        return Answer(exit_code=code, lost=_unread(decision))
    return _allow(event, decision)


def _allow(event: Event, decision: Decision) -> Answer:
    """Messages go to stderr, which Letta Code does not read where nothing is denied: it is for who looks there."""
    name, text = event.kind.name, decision.model_text
    stderr = decision.message_text
    unread = ("messages",) if stderr else ()
    if name in {"UserPromptSubmit", "SessionStart"}:
        return Answer(stdout=text, stderr=stderr, lost=unread)
    if name in {"PostToolUse", "PostToolUseFailure"}:
        lost = (*(f"change of {field}" for field in decision.changed_fields(event)), *unread)
        return Answer(stdout=_specific(name, additionalContext=text) if text else "", stderr=stderr, lost=lost)
    lost = (*(("context",) if text else ()), *unread)
    if name == "PreToolUse" and decision.changed_fields(event):
        return Answer(stdout=_specific(name, updatedInput=decision.data["tool_input"]), stderr=stderr, lost=lost)
    return Answer(stderr=stderr, lost=lost)


def _specific(name: str, **fields: Any) -> str:
    return to_json({"hookSpecificOutput": {"hookEventName": name, **fields}})


def _unread(decision: Decision) -> tuple[str, ...]:
    context = ("context",) if decision.model_text else ()
    return (*context, "messages") if decision.messages else context
