"""Kimi Code: commands in a list of its TOML file; it reads what the first line of an answer needs, and nothing more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.payload import output_text, prompt_text
from hookline.dialects.claude_family.reply_reader import Rules
from hookline.dialects.claude_family.reply_table import EXIT_2, PERMISSION_DENY, on, replies

_EVENTS = event_table(
    "kimi",
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionRequest Stop StopFailure"
    " Interrupt SubagentStart SubagentStop TaskCreated:TaskStarted PreCompact PostCompact Notification"
    " PermissionDenied:PermissionResult -:TurnStarted -:UserPromptQueued -:SessionHeartbeat",
)
_TOOL = "tool_name tool_input tool_use_id:tool_call_id"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    prompt = sent.get("prompt")
    if event == "UserPromptSubmit" and isinstance(prompt, list):
        return {"prompt": prompt_text(prompt), "prompt_parts": prompt}
    if event == "PostToolUseFailure":
        return {"tool_error": {"type": "error", "message": output_text(pick(sent, "error.message|error"))}}
    if event == "PermissionDenied" and sent.get("decision") == "approved":
        return {"carried_as": "kimi:PermissionResult"}
    return {}


def _native_fields(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    if event == "UserPromptSubmit":
        return {"prompt": data.get("prompt_parts") or [{"type": "text", "text": str(data.get("prompt", ""))}]}
    error = data.get("tool_error")
    if event == "PostToolUseFailure" and "error" not in data and isinstance(error, Mapping):
        return {"error": {"code": "internal", "message": error.get("message", ""), "retryable": False}}
    return {}


DIALECT = AgentDialect(
    name="kimi",
    words=field_map(
        "kimi", _EVENTS,
        {
            "SessionStart": "source model profile",
            "SessionEnd": "reason",
            "UserPromptSubmit": "prompt is_steer",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " tool_output",
            "PostToolUseFailure": _TOOL + " error",
            "PermissionRequest": _TOOL + " id turn_id action display",
            "PermissionDenied": _TOOL + " id turn_id action display decision",
            "Stop": "stop_hook_active",
            "StopFailure": "error:error_message error_type",
            "Interrupt": "turn_id reason",
            "SubagentStart": "subagent_type:agent_name prompt",
            "SubagentStop": "subagent_type:agent_name assistant_message:response",
            "TaskCreated": "task_id kind description status detached started_at",
            "PreCompact": "trigger token_count",
            "PostCompact": "trigger estimated_token_count",
            "Notification": "notification_type title message:body severity source_kind source_id sink",
        },
        frame="session_id cwd client_type session_title agent_id",
        canonical_fields=_canonical_fields, native_fields=_native_fields,
    ),
    system=HooksFormat(
        dialect="kimi", events=_EVENTS, shape="list", syntax="toml", constant={}, timeout=30.0, pattern=search_pattern,
        fields=frozenset({"event", "matcher", "command", "timeout"}),
        matched=frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionResult"}),
    ),
    rules=Rules(json_on_any_exit=False, deaf_to_two=frozenset({"PermissionRequest"})),
    replies=replies(
        "kimi-code",
        deny={"PreToolUse": PERMISSION_DENY, **on("UserPromptSubmit Stop", EXIT_2)},
        # Any other JSON would reach the model as it is.
        context={"UserPromptSubmit": {"message": "{context}"}},
    ),
)  # fmt: skip
