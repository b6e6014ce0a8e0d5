"""Our decision in the forms that Gemini really obeys: ``decision: deny`` everywhere, and its own names inside.

An ask is never passed on: without a terminal Gemini then ends with nothing said at all.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hookline.dialects.base import Answer
from hookline.dialects.claude_family.capabilities import Able, always, only_adds, verdict
from hookline.dialects.gemini.fields import EVENTS

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision

_ABLE = Able(
    agent="Gemini CLI",
    denies=frozenset({"PreToolUse", "UserPromptSubmit", "Stop", "PreModelRequest"}),
    rewritable={"PreToolUse": "tool_input", "PostToolUse": "tool_output"},
    rewrites={"PreToolUse": only_adds, "PostToolUse": always},
)

_HEARING = frozenset({"SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUseFailure"})
_NATIVE = {canonical: native for native, canonical in EVENTS.items()} | {"PostToolUseFailure": "AfterTool"}


def reply_out(event: Event, decision: Decision) -> Answer:
    """Nothing at all is the neutral answer."""
    said, name = verdict(_ABLE, event, decision), event.kind.name
    top: dict[str, Any] = {}
    specific: dict[str, Any] = {}
    lost = said.lost
    if said.effect == "deny":
        top |= {"decision": "deny", "reason": said.reason}
    elif said.field == "tool_input":
        specific["tool_input"] = decision.data["tool_input"]
    elif said.field == "tool_output":
        # The result can only be put in its place as an error: better that than what the hook took out of it.
        top |= {"decision": "deny", "reason": _text(decision.data["tool_output"])}
        lost = (*lost, "the success of the tool")
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
        top["hookSpecificOutput"] = {"hookEventName": _NATIVE.get(name, name), **specific}
    return Answer(stdout=json.dumps(top, ensure_ascii=False, default=dict) if top else "", lost=lost)


def _text(output: Any) -> str:
    text = output if isinstance(output, str) else json.dumps(output, ensure_ascii=False, default=dict)
    return text if text.strip() else "(no output)"
