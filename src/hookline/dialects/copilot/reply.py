"""Our decision in the forms that Copilot really obeys: top-level JSON and exit code 0.

Exit code 2 would block a tool too, but lose the reason; on other events it is only a warning.
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
    agent="Copilot CLI",
    denies=frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop"}),
    asks=frozenset({"PreToolUse"}),
    grants=frozenset({"PreToolUse", "PermissionRequest"}),
    rewritable={"PreToolUse": "tool_input", "UserPromptSubmit": "prompt", "PostToolUse": "tool_output"},
    rewrites={
        "PreToolUse": always,
        "UserPromptSubmit": lambda _event, decision: isinstance(decision.data.get("prompt"), str),
        "PostToolUse": always,
    },
)

_HEARING = frozenset({"SessionStart", "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure"})


def reply_out(event: Event, decision: Decision) -> Answer:
    """Nothing at all is the neutral answer. Messages go to stderr, which Copilot keeps in its log."""
    said, name = verdict(_ABLE, event, decision), event.kind.name
    pascal = event.native_name[:1].isupper()
    top = _said(name, decision, said, pascal=pascal)
    text, lost = decision.model_text, said.lost
    # Under both spellings it is read at the top only; Claude Code's place for it is passed over.
    if text and name in _HEARING:
        top["additionalContext"] = text
    elif text:
        lost = (*lost, "context")
    stdout = json.dumps(top, ensure_ascii=False, default=dict) if top else ""
    return Answer(stdout=stdout, stderr=decision.message_text, lost=lost)


def _said(name: str, decision: Decision, said: Verdict, *, pascal: bool) -> dict[str, Any]:
    match name:
        case "PreToolUse":
            return _before_tool(decision, said, pascal=pascal)
        case "PermissionRequest" if said.effect in {"allow", "deny"}:
            return {"behavior": said.effect, **({"message": said.reason} if said.effect == "deny" else {})}
        case "UserPromptSubmit" | "Stop" | "SubagentStop" if said.effect == "deny":
            return {"decision": "block", "reason": said.reason}
        case "UserPromptSubmit" if said.field:
            return {"modifiedPrompt": decision.data["prompt"]}
        case "PostToolUse" if said.field:
            output = decision.data["tool_output"]
            text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=dict)
            return {"modifiedResult": {"resultType": "success", "textResultForLlm": text}}
        case _:
            return {}


def _before_tool(decision: Decision, said: Verdict, *, pascal: bool) -> dict[str, Any]:
    told: dict[str, Any] = {}
    if said.effect != "neutral":
        told = {"permissionDecision": said.effect, "permissionDecisionReason": said.reason}
    if pascal:
        new = {"updatedInput": decision.data["tool_input"]} if said.field else {}
        specific = {"hookEventName": "PreToolUse", **told, **new}
        return {**told, "hookSpecificOutput": specific} if told or new else {}
    return {**told, "modifiedArgs": decision.data["tool_input"]} if said.field else told
