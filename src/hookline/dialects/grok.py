"""Grok Build: Claude Code's hooks and answers, and a payload that says everything in two spellings."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import full_pattern
from hookline.dialects.claude_family.payload import output_text, tool_failure
from hookline.dialects.claude_family.render import full_match_text
from hookline.dialects.claude_family.reply_table import BLOCK, CONTEXT, PERMISSION_DENY, UPDATED_INPUT, on, replies

_NAMES = (
    "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse PostToolUseFailure PermissionDenied Stop StopFailure"
    " Notification SubagentStart SubagentStop PreCompact PostCompact"
)
#: The other spelling of a name, for payloads that have only that.
_SNAKE = " ".join(
    f"{name}:{''.join('_' + one.lower() if one.isupper() else one for one in name)[1:]}" for name in _NAMES.split()
)
_EVENTS = event_table(
    "grok", f"{_NAMES} Interrupt:StopCancelled SubagentStop:SubagentEnd {_SNAKE} Interrupt:stop_cancelled"
)
_TOOL = "tool_name:tool_name|toolName tool_input:tool_input|toolInput tool_use_id:tool_use_id|toolUseId"
_STOPPED = "stop_hook_active:stopHookActive assistant_message:lastAssistantMessage background_tasks:backgroundTasks"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """A command that failed comes as a call that succeeded: its exit code says so, and the event is derived."""
    if event == "Stop" and sent.get("reason") == "shutdown":
        return {"carried_as": "grok:Shutdown"}  # after the end of the session, where no answer ends
    if event == "PostToolUseFailure":
        return {"tool_error": {"type": "error", "message": output_text(pick(sent, "error|toolResult|tool_response"))}}
    if event != "PostToolUse":
        return {}
    result = pick(sent, "tool_response|toolResult")
    text = output_text(_text(result))
    code = result.get("exit_code") if isinstance(result, dict) else 0
    if code is None and isinstance(result, dict) and (result.get("timed_out") or result.get("signal")):
        return tool_failure(f"ended before its time\n{text}")
    if code in (0, None):  # a tuple: whatever the agent sent need not have a hash
        return {"tool_output": text}
    return tool_failure(f"exit code {code}\n{text}")


def _text(result: Any) -> Any:
    if not isinstance(result, dict):
        return result
    inner = [pick(one, "content|text|message") for one in result.values() if isinstance(one, dict)]
    return pick(result, "output_for_prompt|content|text|message") or next(filter(None, inner), result)


DIALECT = AgentDialect(
    name="grok",
    words=field_map(
        "grok", _EVENTS,
        {
            "SessionStart": "source",
            "SessionEnd": "reason",
            "UserPromptSubmit": "prompt",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " tool_response:tool_response|toolResult duration_ms:durationMs",
            "PostToolUseFailure": _TOOL + " error duration_ms:durationMs",
            "PermissionDenied": _TOOL + " reason",
            "Stop": _STOPPED + " stop_reason:reason session_crons:sessionCrons",
            "StopFailure": "error reason",
            "Interrupt": "reason cancelled_by:cancelledBy reason_details:reasonDetails",
            "Notification": "message notification_type:notificationType level",
            "SubagentStart": "subagent_id:agentId subagent_type:subagentType",
            "SubagentStop": f"subagent_id:agentId subagent_type:subagentType {_STOPPED}",
            "PreCompact": "trigger:trigger|source",
            "PostCompact": "trigger:trigger|source summary:compactSummary",
        },
        frame="session_id:session_id|sessionId transcript_path:transcript_path|transcriptPath cwd prompt_id:promptId"
        " permission_mode:permission_mode|permissionMode",
        named_by="hook_event_name|hookEventName", session_variable="GROK_SESSION_ID", cwd_variable="GROK_WORKSPACE_ROOT",
        mcp=r"(?P<server>[^_]\w*?)__(?P<tool>.+)", sources={"new": "startup"},
        canonical_fields=_canonical_fields,
    ),
    system=HooksFormat(
        dialect="grok", events=_EVENTS, fields=frozenset({"type", "command", "timeout", "env"}), kept=("env",), timeout=5.0,
        event_timeouts={"Stop": 600.0, "SubagentStop": 600.0}, pattern=full_pattern, pattern_text=full_match_text,
        matched=frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionDenied"}),
    ),
    variables={"GROK_SESSION_ID": "{session}", "GROK_WORKSPACE_ROOT": "{cwd}", "CLAUDE_PROJECT_DIR": "{cwd}"},
    replies=replies(
        "grok-build",
        deny={"PreToolUse": PERMISSION_DENY, **on("UserPromptSubmit Stop SubagentStop", BLOCK)},
        rewrite={"PreToolUse": UPDATED_INPUT},
        context=on("PreToolUse PostToolUse PostToolUseFailure", CONTEXT),
    ),
)  # fmt: skip
