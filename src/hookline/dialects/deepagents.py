"""Deep Agents Code: Claude Code's hooks and answers, without rewrites."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import full_pattern
from hookline.dialects.claude_family.payload import after_tool, output_text, result_fields
from hookline.dialects.claude_family.render import full_match_text
from hookline.dialects.claude_family.reply_reader import Rules
from hookline.dialects.claude_family.reply_table import (
    BLOCK,
    CONTEXT,
    EXIT_2,
    MESSAGE,
    PERMISSION_ALLOW,
    PERMISSION_DENY,
    REQUEST_ALLOW,
    on,
    replies,
)

_EVENTS = event_table(
    "deepagents",
    "SessionStart UserPromptSubmit SessionEnd PermissionRequest Notification PreToolUse PostToolUse PostToolUseFailure"
    " PreCompact Stop SubagentStart SubagentStop",
)
_TOOL = "tool_name tool_input tool_use_id"
#: Tools of MCP servers are ``server_tool`` in 0.1.57, which has tools of its own with an underscore.
_OWN = (
    "ask_user|compact_conversation|fetch_url|get_current_thread_id|js_eval|web_search|write_todos"
    r"|(?:get|update)_(?:goal|rubric)|(?:read|write|edit)_file|\w+_async_tasks?|\w+_temp_artifact"
)
_SUBAGENT = "subagent_id:agent_id subagent_type:agent_type agent_transcript_path"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found = after_tool(event, sent)
    if event in {"Stop", "SubagentStop"} and (said := output_text(sent.get("last_assistant_message"))):
        found["assistant_message"] = _plain(said)
    return found


def _plain(said: str) -> str:
    """With some models the last answer comes as Python writes a list of its parts."""
    if not said.startswith("[{"):
        return said
    try:
        return output_text(ast.literal_eval(said))
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return said


DIALECT = AgentDialect(
    name="deepagents",
    words=field_map(
        "deepagents", _EVENTS,
        {
            "SessionStart": "source model",
            "SessionEnd": "reason",
            "UserPromptSubmit": "prompt",
            "PreToolUse": _TOOL,
            "PermissionRequest": _TOOL + " permission_suggestions",
            "PostToolUse": _TOOL + " tool_response duration_ms",
            "PostToolUseFailure": _TOOL + " error is_interrupt duration_ms",
            "Stop": "stop_hook_active last_assistant_message background_tasks session_crons",
            "SubagentStart": _SUBAGENT,
            "SubagentStop": _SUBAGENT + " stop_hook_active last_assistant_message",
            "PreCompact": "trigger custom_instructions",
            "Notification": "message notification_type",
        },
        frame="session_id transcript_path cwd prompt_id permission_mode", canonical_fields=_canonical_fields,
        mcp=rf"(?!(?:{_OWN})\Z)(?P<server>[^_]+)_(?P<tool>.+)",
        native_fields=result_fields,
    ),
    system=HooksFormat(
        dialect="deepagents", events=_EVENTS, fields=frozenset({"type", "command", "timeout", "statusMessage"}),
        kept=("statusMessage",), pattern=full_pattern, pattern_text=full_match_text,
        matched=frozenset({"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "SessionStart",
                           "SessionEnd", "PreCompact", "Notification", "SubagentStart", "SubagentStop"}),
    ),
    rules=Rules(json_on_any_exit=False),
    replies=replies(
        "deepagents",
        deny={"PreToolUse": PERMISSION_DENY, "PermissionRequest": None, "UserPromptSubmit": EXIT_2, "Stop": BLOCK},
        allow={"PreToolUse": PERMISSION_ALLOW, "PermissionRequest": REQUEST_ALLOW},
        context=on("SessionStart UserPromptSubmit PreToolUse PostToolUse", CONTEXT),
        message=MESSAGE,
    ),
)  # fmt: skip
