"""Our decision in the forms that Codex really obeys.

Its reader is strict: an unknown field, a deny without a reason, a bare allow or an ask make the whole answer void,
and then the tool runs. So nothing is said here that was not seen to be obeyed.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hookline.dialects.base import Answer
from hookline.dialects.claude_family.capabilities import Able, always, verdict

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.dialects.claude_family.capabilities import Verdict

_ABLE = Able(
    agent="Codex",
    denies=frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop"}),
    grants=frozenset({"PermissionRequest"}),
    rewritable={"PreToolUse": "tool_input", "PostToolUse": "tool_output"},
    # Another output is given in the place of a block's reason, so it must be a text that is not empty.
    rewrites={
        "PreToolUse": always,
        "PostToolUse": lambda _event, decision: bool(str(decision.data.get("tool_output") or "").strip()),
    },
)

_HEARING = frozenset({"PreToolUse", "PostToolUse", "SessionStart", "UserPromptSubmit", "SubagentStart"})
#: Where a block is top-level JSON.
_BLOCKED_BY_JSON = frozenset({"Stop", "SubagentStop"})
_SILENT = frozenset({"PreModelRequest", "PostModelRequest", "SessionEnd", "Interrupt"})


def reply_out(event: Event, decision: Decision) -> Answer:
    """Nothing at all is the neutral answer."""
    said, name = verdict(_ABLE, event, decision), event.kind.name
    text, message = decision.model_text, decision.message_text
    if said.effect == "deny" and name == "UserPromptSubmit":
        return Answer(stderr=said.reason, exit_code=2, lost=said.lost)
    top, specific = _top(name, decision, said), _specific(name, decision, said)
    lost = said.lost
    if message and name not in _SILENT:
        top["systemMessage"] = message
    if text and name in _HEARING and said.effect != "deny":
        specific["additionalContext"] = text
    elif text:
        lost = (*lost, "context")
    if specific:
        top["hookSpecificOutput"] = {"hookEventName": name, **specific}
    return Answer(stdout=json.dumps(top, ensure_ascii=False, default=dict) if top else "", lost=lost)


def _top(name: str, decision: Decision, said: Verdict) -> dict[str, Any]:
    if said.effect == "deny" and name in _BLOCKED_BY_JSON:
        return {"decision": "block", "reason": said.reason}
    if said.field == "tool_output":
        return {"decision": "block", "reason": _text(decision.data["tool_output"])}
    if decision.attributes.get("continue") is False and name in _BLOCKED_BY_JSON:
        return {"continue": False, "stopReason": decision.reason or "Stopped by hook"}
    return {}


def _specific(name: str, decision: Decision, said: Verdict) -> dict[str, Any]:
    if name == "PermissionRequest" and said.effect in {"deny", "allow"}:
        told = {"message": said.reason} if said.effect == "deny" else {}
        return {"decision": {"behavior": said.effect, **told}}
    if name != "PreToolUse":
        return {}
    if said.effect == "deny":
        return {"permissionDecision": "deny", "permissionDecisionReason": said.reason}
    # A rewrite is only read together with an allow; an allow alone is not read at all.
    if said.field:
        return {"permissionDecision": "allow", "updatedInput": decision.data["tool_input"]}
    return {}


def _text(output: Any) -> str:
    return output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=dict)
