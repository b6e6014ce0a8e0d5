"""Crush: one event, flat lists of commands, and a decision in JSON."""

from __future__ import annotations

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.reply_table import EXIT_2, replies

_EVENTS = event_table("crush", "PreToolUse PreToolUse:pre_tool_use PreToolUse:pretooluse")

DIALECT = AgentDialect(
    name="crush",
    own_forms=True,
    words=field_map(
        "crush", _EVENTS, {"PreToolUse": "tool_name tool_input"}, frame="session_id cwd", named_by="event",
        session_variable="CRUSH_SESSION_ID", cwd_variable="CRUSH_CWD", mcp=r"mcp_(?P<server>[^_]+)_(?P<tool>.+)",
    ),
    system=HooksFormat(
        dialect="crush", events=_EVENTS, shape="flat", constant={}, timeout=30.0, pattern=search_pattern,
        fields=frozenset({"name", "matcher", "command", "timeout"}), kept=("name",), matched=frozenset(_EVENTS),
    ),
    variables={"CRUSH": "1", "CRUSH_EVENT": "PreToolUse", "CRUSH_SESSION_ID": "{session}", "CRUSH_CWD": "{cwd}", "CRUSH_PROJECT_DIR": "{cwd}"},
    replies=replies(
        "crush",
        deny={"PreToolUse": EXIT_2},
        allow={"PreToolUse": {"version": 1, "decision": "allow"}},
        rewrite={"PreToolUse": {"updated_input": "{value}"}}, merges=True,
        context={"PreToolUse": {"context": "{context}"}},
        read={"PreToolUse": {"decision": "deny", "reason": "{reason}"}},
    ),
)  # fmt: skip
