"""Junie: Claude Code's hooks in its own settings, and a flat answer before a tool."""

from __future__ import annotations

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.reply_table import EXIT_2, on, replies

_EVENTS = event_table("junie", "SessionStart UserPromptSubmit PreToolUse PermissionRequest Stop StopFailure SessionEnd")
_TOOL = "tool_name tool_input tool_use_id"

DIALECT = AgentDialect(
    name="junie",
    own_forms=True,
    words=field_map(
        "junie", _EVENTS,
        {
            "SessionStart": "source",
            "SessionEnd": "reason",
            "UserPromptSubmit": "prompt",
            "PreToolUse": _TOOL,
            "PermissionRequest": _TOOL,
            "Stop": "stop_hook_active assistant_message:last_assistant_message",
            "StopFailure": "error",
        },
    ),
    system=HooksFormat(
        dialect="junie", events=_EVENTS, timeout=10.0, pattern=search_pattern, kept=("blockOnError",),
        fields=frozenset({"type", "command", "timeout", "blockOnError", "async"}), matched=frozenset(_EVENTS),
    ),
    replies=replies(
        "junie",
        deny=on("PreToolUse UserPromptSubmit PermissionRequest Stop", EXIT_2),
        allow={"PreToolUse": {"decision": "allow", "reason": "{reason}"}},
        rewrite={"PreToolUse": {"decision": "allow", "updatedInput": "{value}"}},
        read={"PreToolUse": {"decision": "deny", "reason": "{reason}"}},
    ),
)  # fmt: skip
