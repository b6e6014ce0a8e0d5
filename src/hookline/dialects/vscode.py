"""VS Code's own agent: Claude Code's answers, flat lists of commands, and names in camelCase around the event."""

from __future__ import annotations

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.payload import after_tool, result_fields
from hookline.dialects.claude_family.reply_table import (
    BLOCK,
    CONTEXT,
    EXIT_2,
    MESSAGE,
    PERMISSION_ALLOW,
    PERMISSION_ASK,
    PERMISSION_DENY,
    UPDATED_INPUT,
    on,
    replies,
)

_EVENTS = event_table(
    "vscode", "SessionStart UserPromptSubmit PreToolUse PostToolUse PreCompact SubagentStart SubagentStop Stop"
)
_TOOL = "tool_name tool_input tool_use_id"
_SUBAGENT = "subagent_id:agent_id subagent_type:agent_type"

DIALECT = AgentDialect(
    name="vscode",
    words=field_map(
        "vscode", _EVENTS,
        {
            "SessionStart": "source",
            "UserPromptSubmit": "prompt",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " tool_response",
            "PreCompact": "trigger",
            "SubagentStart": _SUBAGENT,
            "SubagentStop": _SUBAGENT + " stop_hook_active",
            "Stop": "stop_hook_active",
        },
        frame="session_id:sessionId|session_id transcript_path:transcript_path|transcriptPath cwd timestamp",
        named_by="hookEventName|hook_event_name", sources={"new": "startup"}, mcp=r"mcp_(?P<server>[^_]+)_(?P<tool>.+)",
        canonical_fields=after_tool,
        native_fields=result_fields,
    ),
    # It reads no matcher: every hook of an event runs.
    system=HooksFormat(
        dialect="vscode", events=_EVENTS, shape="flat", timeout=30.0,
        fields=frozenset({"type", "command", "windows", "linux", "osx", "cwd", "env", "timeout"}),
        kept=("windows", "linux", "osx", "cwd", "env"),
    ),
    replies=replies(
        "vscode",
        deny={"PreToolUse": PERMISSION_DENY, "UserPromptSubmit": EXIT_2, **on("Stop SubagentStop", BLOCK)},
        ask={"PreToolUse": PERMISSION_ASK},
        allow={"PreToolUse": PERMISSION_ALLOW},
        rewrite={"PreToolUse": UPDATED_INPUT},
        context=on("SessionStart SubagentStart PreToolUse PostToolUse", CONTEXT),
        message=MESSAGE,
    ),
)  # fmt: skip
