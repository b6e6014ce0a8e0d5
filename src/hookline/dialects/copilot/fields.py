"""Copilot's events in both spellings, and the names of their fields.

A hook that is registered under ``preToolUse`` reads camelCase and no event name; under ``PreToolUse`` it reads
snake_case. PermissionRequest is camelCase under either.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.dialects.claude_family.field_map import FieldMap, field_names
from hookline.dialects.claude_family.wire import output_text

if TYPE_CHECKING:
    from collections.abc import Mapping

_CAMEL: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "errorOccurred": "StopFailure",
}

EVENTS: Mapping[str, str] = MappingProxyType({**_CAMEL, **{name: name for name in _CAMEL.values()}})

#: Copilot's word for how a session began -> ours.
_SOURCES = {"new": "startup"}


def _meant(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if event == "PostToolUse":
        found |= _result(sent)
    if event == "PostToolUseFailure":
        message = sent.get("error", sent.get("errorMessage"))
        found["tool_error"] = {"type": "error", "message": output_text(message)}
    if event == "SessionStart" and sent.get("source") in _SOURCES:
        found |= {"source": _SOURCES[sent["source"]], "native_source": sent["source"]}
    if event in {"Stop", "SubagentStop"}:
        found["continuations"] = int(bool(sent.get("stop_hook_active")))
    return found


def _result(sent: Mapping[str, Any]) -> dict[str, Any]:
    """A result that is no success has an event of its own for everybody else, so it is derived."""
    result = sent.get("toolResult", sent.get("tool_result"))
    if not isinstance(result, dict):
        return {"tool_output": output_text(result)}
    kind = result.get("resultType", result.get("result_type", "success"))
    text = output_text(result.get("textResultForLlm", result.get("text_result_for_llm", "")))
    if kind == "success":
        return {"tool_output": text}
    return {
        "carried_as": "PostToolUseFailure", "derived": ["event"],
        "tool_error": {"type": "blocked" if kind in {"denied", "rejected"} else "error", "message": text},
    }  # fmt: skip


def _derived(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "PostToolUse":
            return {"toolResult": {"resultType": "success", "textResultForLlm": output_text(data.get("tool_output"))}}
        case "Stop" | "SubagentStop":
            return {"stop_hook_active": data.get("stop_hook_active", bool(data.get("continuations")))}
        case _:
            return {}


_TOOL = field_names("tool_name:toolName tool_input:toolArgs tool_use_id:toolCallId")

WORDS = FieldMap(
    dialect="copilot",
    events=EVENTS,
    frame=field_names("session_id:sessionId timestamp cwd transcript_path:transcriptPath"),
    named_by="hook_event_name",
    cwd_variable="COPILOT_PROJECT_DIR",
    fields={
        "SessionStart": field_names("source initial_prompt:initialPrompt"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "PreToolUse": _TOOL,
        "PermissionRequest": field_names(
            "tool_name:toolName tool_input:toolInput permission_suggestions:permissionSuggestions"
        ),
        "PostToolUse": _TOOL,
        "PostToolUseFailure": (*_TOOL, ("error", "error")),
        "Stop": field_names("stop_reason:stopReason stop_hook_active"),
        "SubagentStart": field_names("subagent_type:agentName"),
        "SubagentStop": field_names("subagent_type:agentName stop_reason:stopReason stop_hook_active"),
        "PreCompact": field_names("trigger"),
        "Notification": field_names("message notification_type title"),
        "StopFailure": field_names("error"),
    },
    meant=_meant,
    derived=_derived,
)
