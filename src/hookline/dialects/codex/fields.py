"""Codex's events and the names of their fields."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.dialects.claude_family.field_map import FieldMap, after_tool, field_names, tool_response

if TYPE_CHECKING:
    from collections.abc import Mapping

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        name: name
        for name in (
            "SessionStart", "SessionEnd", "UserPromptSubmit", "PreModelRequest", "PostModelRequest", "PreToolUse",
            "PermissionRequest", "PostToolUse", "PreCompact", "PostCompact", "SubagentStart", "SubagentStop", "Stop",
            "Interrupt",
        )
    }
)  # fmt: skip

_TOOL = "tool_name tool_input tool_use_id"
_SUBAGENT = "subagent_id:agent_id subagent_type:agent_type agent_transcript_path"


def _meant(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found = after_tool(event, sent)
    usage = sent.get("token_usage")
    if event == "PostModelRequest" and isinstance(usage, dict):
        names_of = {"input": "input_tokens", "cached": "cached_input_tokens", "output": "output_tokens",
                    "total": "total_tokens"}  # fmt: skip
        found["tokens"] = {ours: usage.get(theirs, 0) for ours, theirs in names_of.items()}
    if event == "UserPromptSubmit" and sent.get("agent_id"):
        # A subagent's task comes as a prompt that nobody typed.
        found["auto_submit"] = True
    return found


def _derived(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    if event == "PostToolUse":
        return {"tool_response": tool_response(data)}
    if event in {"Stop", "SubagentStop"}:
        return {"stop_hook_active": data.get("stop_hook_active", bool(data.get("continuations")))}
    return {}


WORDS = FieldMap(
    dialect="codex",
    events=EVENTS,
    frame=field_names("session_id turn_id transcript_path cwd model permission_mode agent_id agent_type"),
    fields={
        "SessionStart": field_names("source"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "PreModelRequest": (),
        "PostModelRequest": field_names("status error token_usage"),
        "PreToolUse": field_names(_TOOL),
        "PermissionRequest": field_names("tool_name tool_input"),
        "PostToolUse": field_names(_TOOL + " tool_response"),
        "PreCompact": field_names("trigger"),
        "PostCompact": field_names("trigger"),
        "SubagentStart": field_names(_SUBAGENT),
        "SubagentStop": field_names(_SUBAGENT + " stop_hook_active assistant_message:last_assistant_message"),
        "Stop": field_names("stop_hook_active assistant_message:last_assistant_message"),
        "Interrupt": (),
    },
    meant=_meant,
    derived=_derived,
    always={
        "SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"}, "PreCompact": {"trigger": "auto"},
        "PostCompact": {"trigger": "auto"},
    },
)  # fmt: skip
