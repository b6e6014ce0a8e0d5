"""Qwen Code: commands in its settings, under Claude Code's names, and an agent that calls us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import (
    FieldMap,
    error_text,
    event_table,
    field_names,
    llm_output,
    llm_response,
)
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.payload import after_tool
from hookline.dialects.claude_family.reply_reader import Rules
from hookline.dialects.claude_family.reply_table import (
    BLOCK,
    CONTEXT,
    END,
    MESSAGE,
    PERMISSION_ALLOW,
    PERMISSION_ASK,
    PERMISSION_DENY,
    REQUEST_ALLOW,
    REQUEST_DENY,
    Replies,
    on,
    specific,
)

_EVENTS = event_table(
    "qwen",
    "SessionStart SessionEnd UserPromptSubmit UserPromptExpansion PreToolUse PostToolUse PostToolUseFailure PostToolBatch"
    " PermissionRequest PermissionDenied Notification MessageDisplay Stop StopFailure SubagentStart SubagentStop PreCompact"
    " PostCompact InstructionsLoaded TaskCreated:TodoCreated TaskCompleted:TodoCompleted -:SessionDelete",
)

_TOOL = "tool_name tool_input tool_use_id tool_call_id"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found = after_tool(event, sent)
    if event == "PostToolUse":
        found["tool_output"] = llm_output(sent.get("tool_response"))
    if event == "UserPromptSubmit" and "submitted_prompt" not in sent:
        # Fired again for every step of the agent, and for a hook's text: nobody typed that.
        found["auto_submit"] = True
    return found


def _native_fields(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "PostToolUse":
            return {"tool_response": llm_response(data)}
        case "PostToolUseFailure":
            return {"error": error_text(data), "is_interrupt": bool(data.get("is_interrupt"))}
        case _:
            return {}


_WORDS = FieldMap(
    dialect="qwen",
    events=_EVENTS,
    frame=field_names("session_id transcript_path cwd timestamp permission_mode prompt_id"),
    session_variable="QWEN_CODE_SESSION_ID",
    cwd_variable="QWEN_PROJECT_DIR",
    fields={
        "SessionStart": field_names("source model"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt submitted_prompt"),
        "PreToolUse": field_names(_TOOL),
        "PermissionRequest": field_names("tool_name tool_input permission_suggestions"),
        "PermissionDenied": field_names(_TOOL + " reason"),
        "PostToolUse": field_names(_TOOL + " tool_response duration_ms"),
        "PostToolUseFailure": field_names(_TOOL + " error is_interrupt duration_ms"),
        "PostToolBatch": field_names("tool_calls"),
        "Stop": field_names("stop_hook_active assistant_message:last_assistant_message background_tasks crons context_usage "
                      "context_limit input_tokens"),
        "SubagentStart": field_names("subagent_id:agent_id subagent_type:agent_type"),
        "SubagentStop": field_names("subagent_id:agent_id subagent_type:agent_type stop_hook_active "
                              "assistant_message:last_assistant_message"),
        "PreCompact": field_names("trigger custom_instructions"),
        "PostCompact": field_names("trigger summary:compact_summary"),
        "Notification": field_names("message notification_type title"),
        "MessageDisplay": field_names("message_id message:displayed_text is_final"),
        "InstructionsLoaded": field_names("file_path memory_type load_reason"),
    },
    canonical_fields=_canonical_fields,
    native_fields=_native_fields,
    always={"SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"}, "PreCompact": {"trigger": "auto"}},
)  # fmt: skip


_REPLIES = Replies(
    agent="Qwen Code",
    deny={
        "PreToolUse": PERMISSION_DENY, "PermissionRequest": REQUEST_DENY, **on("UserPromptSubmit Stop SubagentStop", BLOCK),
    },
    ask={"PreToolUse": PERMISSION_ASK},
    allow={"PreToolUse": PERMISSION_ALLOW, "PermissionRequest": REQUEST_ALLOW},
    rewrite={"PermissionRequest": specific(decision={"behavior": "allow", "updatedInput": "{value}"})},
    context=on("SessionStart UserPromptSubmit PostToolUse PostToolUseFailure PostToolBatch PreCompact", CONTEXT),
    context_with_deny=True, message=MESSAGE, end=END,
)  # fmt: skip


_SYSTEM = HooksFormat(
    dialect="qwen",
    events=_EVENTS,
    fields=frozenset({"name", "type", "command", "timeout", "description", "async", "statusMessage", "env", "shell"}),
    kept=("name", "description", "statusMessage", "env", "shell"),
    per_second=1000,
    timeout=60.0,
    switches=("enabled", "disabled", "notifications"),
    group_fields=frozenset({"sequential"}),
    matched=frozenset(
        {
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "SessionStart",
            "SessionEnd", "PreCompact", "PostCompact", "Notification", "SubagentStart", "SubagentStop",
        }
    ),
)  # fmt: skip


class _QwenDialect(AgentDialect):
    name = "qwen"
    events = _EVENTS
    system = _SYSTEM
    words = _WORDS
    rules = Rules(deaf_to_two=frozenset({"PermissionRequest"}))
    replies = _REPLIES

    def environ(self, event: Event) -> Mapping[str, str]:
        own = uses_dialect(event.agent, "qwen")
        project = (event.environ.get("QWEN_PROJECT_DIR", "") if own else "") or event.cwd
        return dict.fromkeys(("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), project)


DIALECT = _QwenDialect()
