"""Factory Droid: Claude Code's hooks, in a file that is nothing but the events."""

from __future__ import annotations

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.payload import after_tool
from hookline.dialects.claude_family.reply_reader import Rules
from hookline.dialects.claude_family.reply_table import (
    BLOCK,
    CONTEXT,
    EXIT_2,
    PERMISSION_ALLOW,
    PERMISSION_DENY,
    UPDATED_INPUT,
    on,
    replies,
)

_EVENTS = event_table(
    "droid", "SessionStart SessionEnd UserPromptSubmit PreToolUse PostToolUse Stop SubagentStop PreCompact Notification"
)
_TOOL = "tool_name tool_input"

DIALECT = AgentDialect(
    name="droid",
    words=field_map(
        "droid", _EVENTS,
        {
            "SessionStart": "source CLAUDE_ENV_FILE",
            "SessionEnd": "reason duration_ms:session_duration_ms message_count message_id",
            "UserPromptSubmit": "prompt has_images message_id",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " tool_response",
            "Stop": "stop_hook_active tool_call_count:tool_execution_count elapsed_time message_id",
            "SubagentStop": "stop_hook_active",
            "PreCompact": "trigger custom_instructions",
            "Notification": "message notification_type",
        },
        frame="session_id transcript_path cwd permission_mode", cwd_variable="FACTORY_PROJECT_DIR",
        canonical_fields=after_tool, mcp=r"(?P<server>.+?)___(?P<tool>.+)",
        native_fields=lambda event, data: {"tool_response": data.get("tool_output", "")} if event == "PostToolUse" else {},
    ),
    system=HooksFormat(
        dialect="droid", events=_EVENTS, key="", fields=frozenset({"type", "command", "timeout"}), timeout=60.0,
        group_fields=frozenset({"commandRegex"}), pattern=search_pattern,
        matched=frozenset({"PreToolUse", "PostToolUse", "SessionStart", "SessionEnd", "PreCompact", "Notification"}),
    ),
    rules=Rules(json_on_any_exit=False),
    variables=dict.fromkeys(("FACTORY_PROJECT_DIR", "DROID_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), "{cwd}"),
    replies=replies(
        "droid",
        deny={"PreToolUse": PERMISSION_DENY, "UserPromptSubmit": EXIT_2, **on("Stop SubagentStop", BLOCK)},
        allow={"PreToolUse": PERMISSION_ALLOW},
        rewrite={"PreToolUse": UPDATED_INPUT},
        context=on("SessionStart UserPromptSubmit PostToolUse", CONTEXT),
    ),
)  # fmt: skip
