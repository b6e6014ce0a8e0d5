"""Our decision in the forms that Qwen really obeys: Claude Code's, without the rewrites it reads and then forgets."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hookline.dialects.base import Answer
from hookline.dialects.claude_family.capabilities import Able, verdict

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.dialects.claude_family.capabilities import Verdict

_ABLE = Able(
    agent="Qwen Code",
    denies=frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop"}),
    asks=frozenset({"PreToolUse"}),
    grants=frozenset({"PreToolUse", "PermissionRequest"}),
    rewritable={"PermissionRequest": "tool_input"},
    # A permission's input can only be changed together with granting it.
    rewrites={"PermissionRequest": lambda _event, decision: decision.granted},
)

_HEARING = frozenset(
    {"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PreCompact"}
)
_BLOCKED_BY_JSON = frozenset({"UserPromptSubmit", "Stop", "SubagentStop"})


def reply_out(event: Event, decision: Decision) -> Answer:
    """Nothing at all is the neutral answer."""
    said, name = verdict(_ABLE, event, decision), event.kind.name
    top: dict[str, Any] = {}
    specific, lost = _specific(name, decision, said), said.lost
    if said.effect == "deny" and name in _BLOCKED_BY_JSON:
        top |= {"decision": "block", "reason": said.reason}
    if decision.attributes.get("continue") is False and event.kind.continues:
        top |= {"continue": False, "stopReason": decision.reason or "Stopped by hook"}
    if message := decision.message_text:
        top["systemMessage"] = message
    text = decision.model_text
    if text and name in _HEARING:
        specific["additionalContext"] = text
    elif text:
        lost = (*lost, "context")
    if specific:
        top["hookSpecificOutput"] = {"hookEventName": name, **specific}
    return Answer(stdout=json.dumps(top, ensure_ascii=False, default=dict) if top else "", lost=lost)


def _specific(name: str, decision: Decision, said: Verdict) -> dict[str, Any]:
    if said.effect == "neutral":
        return {}
    if name == "PreToolUse":
        return {"permissionDecision": said.effect, "permissionDecisionReason": said.reason}
    if name == "PermissionRequest":
        told = {"message": said.reason} if said.effect == "deny" else {}
        new = {"updatedInput": decision.data["tool_input"]} if said.field else {}
        return {"decision": {"behavior": said.effect, **told, **new}}
    return {}
