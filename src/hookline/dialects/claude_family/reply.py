"""Claude Code as the agent that calls us: our decision in the forms that it really obeys."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hookline.dialects.base import Answer

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision

#: A block is ``decision: block`` here; elsewhere it is exit code 2.
_BLOCKED_BY_JSON = frozenset({"UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "ConfigChange"})
#: Where additionalContext reaches the model.
_HEARING = frozenset(
    {
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "UserPromptSubmit", "UserPromptExpansion",
        "SessionStart", "Setup", "SubagentStart", "Stop", "SubagentStop",
    }
)  # fmt: skip
_NOTHING = Answer()
#: Where the text itself reaches the model, and an object is refused: it becomes a part of what the compaction is told.
_HEARING_PLAINLY = frozenset({"PreCompact"})


def reply_out(event: Event, decision: Decision) -> Answer:
    """Nothing at all is the neutral answer; only a hook that said allow makes us say it."""
    if decision.silent:
        return _NOTHING
    effect, reason, lost = _verdict(event, decision)
    name = event.kind.name
    if effect == "deny" and name not in _BLOCKED_BY_JSON and name not in {"PreToolUse", "PermissionRequest"}:
        return Answer(stderr=reason, exit_code=2, lost=lost)
    top: dict[str, Any] = {}
    specific = _specific(event, decision, effect, reason)
    if effect == "deny" and name in _BLOCKED_BY_JSON:
        top |= {"decision": "block", "reason": reason}
    if decision.attributes.get("continue") is False:
        top |= {"continue": False, "stopReason": decision.reason or "Stopped by hook"}
    if message := decision.message_text:
        top["systemMessage"] = message
    text = decision.model_text
    if text and name in _HEARING and not (_going_on(event) and effect != "deny"):
        specific["additionalContext"] = text
    elif name in _HEARING_PLAINLY and text and not top and not text.startswith("{"):
        return Answer(stdout=text, lost=lost)
    elif text:
        lost = (*lost, "context")
    if specific:
        top["hookSpecificOutput"] = {"hookEventName": name, **specific}
    return Answer(stdout=json.dumps(top, ensure_ascii=False, default=dict) if top else "", lost=lost)


def _going_on(event: Event) -> bool:
    """It was sent on already. Text at the end of an answer sends Claude Code on as a refusal does, so a hook that always
    says something would do so without end: it is heard once in a turn."""
    return event.kind.continues and bool(event.data.get("continuations"))


def _verdict(event: Event, decision: Decision) -> tuple[str, str, tuple[str, ...]]:
    """The effect, the reason, and what is lost by it: what cannot be carried out exactly becomes a deny."""
    name = event.kind.name
    if decision.effect == "deny" or decision.aborted is not None:
        return ("deny", decision.refusal_text, ()) if event.kind.deniable else ("neutral", "", ("deny",))
    if decision.effect == "ask":
        if name == "PreToolUse":
            return "ask", decision.reason, ()
        if name == "PermissionRequest":
            return "neutral", "", ()
        asked = decision.reason or "a hook wants the person to be asked"
        return "deny", f"{asked} (Claude Code cannot ask here, so this is refused)", ("ask",)
    fields = decision.changed_fields(event)
    if fields and not _sayable(event, decision, fields):
        what = ", ".join(fields)
        if not event.kind.deniable:
            return "neutral", "", (f"change of {what}",)
        return (
            "deny",
            f"a hook changed {what}, which Claude Code cannot carry out, so this is refused",
            (f"change of {what}",),
        )
    return ("allow" if decision.granted else "neutral"), decision.reason, ()


def _sayable(event: Event, decision: Decision, fields: tuple[str, ...]) -> bool:
    """A permission's input can only be changed together with granting it."""
    match event.kind.name:
        case "PreToolUse":
            return fields == ("tool_input",)
        case "PermissionRequest":
            return fields == ("tool_input",) and decision.granted
        case "PostToolUse":
            return fields == ("tool_output",)
        case _:
            return False


def _specific(event: Event, decision: Decision, effect: str, reason: str) -> dict[str, Any]:
    fields = decision.changed_fields(event) if effect != "deny" else ()
    match event.kind.name:
        case "PreToolUse":
            said: dict[str, Any] = {}
            if effect != "neutral":
                said = {"permissionDecision": effect, "permissionDecisionReason": reason}
            return said | ({"updatedInput": decision.data["tool_input"]} if fields else {})
        case "PermissionRequest" if effect in {"allow", "deny"}:
            told = {"message": reason} if effect == "deny" else {}
            new = {"updatedInput": decision.data["tool_input"]} if fields else {}
            kept = {key: decision.attributes[key] for key in ("interrupt", "updatedPermissions")
                    if key in decision.attributes}  # fmt: skip
            return {"decision": {"behavior": effect, **told, **new, **kept}}
        case "PostToolUse" if fields == ("tool_output",):
            return {"updatedToolOutput": decision.data["tool_output"]}
        case _:
            return {}
