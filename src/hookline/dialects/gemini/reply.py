"""Our decision in the forms that Gemini really obeys: ``decision: deny`` everywhere, and its own names inside."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.event import Event
from hookline.core.result import Context, Decision, Effect, HookError, Reply, RunResult
from hookline.dialects.base import Answer
from hookline.dialects.claude_family.payload import read_object
from hookline.dialects.claude_family.reply import ReplyDraft, output_as_text, write_reply
from hookline.dialects.claude_family.reply_reader import refuse
from hookline.dialects.gemini.fields import EVENTS

_EFFECTS: Mapping[str, Effect] = {"deny": "deny", "block": "deny", "ask": "ask", "allow": "allow", "approve": "allow"}


def reply_in(event: Event, raw: RunResult) -> Reply | HookError:
    """Gemini reads stderr as the answer when stdout is empty; a code above 1 with plain text denies."""
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if isinstance(raw.value, Reply):
        return raw.value
    text = raw.stdout.strip() or raw.stderr.strip()
    answer = dict(raw.value) if isinstance(raw.value, dict) else read_object(text)
    if answer is not None:
        return _spoken(event, answer)
    if raw.exit_code in {0, None} and raw.signal is None:
        return (
            HookError(error="its output starts like a JSON object but is not valid JSON")
            if text.startswith("{")
            else _plain(text)
        )
    if raw.exit_code == 1 or raw.signal is not None or not text:
        what = f"ended by signal {raw.signal}" if raw.exit_code is None else f"exit code {raw.exit_code}"
        return HookError(error=f"{what}: {text}" if text else what)
    if event.kind.deniable or event.kind.name == "PostToolUse":
        return refuse(event, text)
    return HookError(error=f"exit code {raw.exit_code} decides nothing on {event.kind.name}: {text}")


def _plain(text: str) -> Reply:
    """Plain text is for the person, never for the model."""
    return Reply(messages=(text,)) if text else Reply()


def _spoken(event: Event, answer: Mapping[str, Any]) -> Reply:
    specific = answer.get("hookSpecificOutput")
    told: Mapping[str, Any] = specific if isinstance(specific, dict) else {}
    reply = _decided(event, answer)
    context, message = _reply_text(told.get("additionalContext")), _reply_text(answer.get("systemMessage"))
    return Reply(
        effect=reply.effect,
        reason=reply.reason,
        data=_changes(event, told),
        context=(*reply.context, *((Context(text=context),) if context else ())),
        messages=(message,) if message else (),
        attributes={
            **({"continue": False} if answer.get("continue") is False else {}),
            **{key: value for key, value in told.items() if key not in _PLACED},
        },
    )


_PLACED = frozenset({"hookEventName", "additionalContext", "tool_input"})


def _decided(event: Event, answer: Mapping[str, Any]) -> Reply:
    if answer.get("continue") is False:
        if event.kind.continues or not event.kind.deniable:
            return Reply()
        return Reply(effect="deny", reason=_reply_text(answer.get("stopReason")) or "Stopped by hook")
    effect, reason = _EFFECTS.get(_reply_text(answer.get("decision"))), _reply_text(answer.get("reason"))
    if effect == "deny":
        return refuse(event, reason or "Blocked by hook")
    if effect == "ask" or (effect == "allow" and event.kind.name == "PreToolUse"):
        return Reply(effect=effect, reason=reason)
    return Reply()


def _changes(event: Event, told: Mapping[str, Any]) -> dict[str, Any]:
    """The new input is laid over the old one, key by key."""
    new, old = told.get("tool_input"), event.data.get("tool_input")
    if event.kind.name != "PreToolUse" or not isinstance(new, dict):
        return {}
    return {"tool_input": {**(old if isinstance(old, dict) else {}), **new}}


def _reply_text(value: Any) -> str:
    return value if isinstance(value, str) else ""


_NATIVE = {canonical: native for native, canonical in EVENTS.items()} | {"PostToolUseFailure": "AfterTool"}


def reply_out(event: Event, decision: Decision) -> Answer:
    return write_reply("gemini", event, decision, _forms, native_name=_NATIVE.get(event.kind.name, ""))


def _forms(draft: ReplyDraft) -> None:
    data = draft.decision.data
    if draft.denies:
        draft.block("deny")
    elif draft.feasible.field == "tool_input":
        draft.specific["tool_input"] = data["tool_input"]
    elif draft.feasible.field == "tool_output":
        # The result can only be put in its place as an error: better that than what the hook took out of it.
        text = output_as_text(data["tool_output"])
        draft.block("deny", text if text.strip() else "(no output)")
        draft.lost = (*draft.lost, "the success of the tool")
    if draft.event.kind.continues:
        draft.stop()
