"""Antigravity: named hooks, fields in camelCase, and a decision in JSON."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.payload import output_text, tool_failure
from hookline.dialects.claude_family.reply_table import replies

_EVENTS = event_table(
    "antigravity", "PreToolUse PostToolUse Stop PreModelRequest:PreInvocation PostModelRequest:PostInvocation"
)
_TOOL = "tool_name:toolCall.name tool_input:toolCall.args"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """It says what went wrong, and never what came out."""
    if event == "PostToolUse" and sent.get("error"):
        return tool_failure(output_text(sent["error"]))
    return {"tool_output": ""} if event == "PostToolUse" else {}


DIALECT = AgentDialect(
    name="antigravity",
    own_forms=True,
    words=field_map(
        "antigravity", _EVENTS,
        {"PreToolUse": _TOOL, "PostToolUse": _TOOL + " error", "PostToolUseFailure": _TOOL + " error"},
        frame="session_id:conversationId transcript_path:transcriptPath cwd:workspacePaths.0 model:modelName",
        named_by="hookEventName", canonical_fields=_canonical_fields,
    ),
    system=HooksFormat(
        dialect="antigravity", events=_EVENTS, key="*", timeout=60.0, pattern=search_pattern, switches=("enabled",),
        fields=frozenset({"type", "command", "timeout"}), matched=frozenset({"PreToolUse", "PostToolUse"}),
    ),
    replies=replies(
        "antigravity",
        deny={"PreToolUse": None},
        ask={"PreToolUse": {"decision": "force_ask", "reason": "{reason}"}},
        allow={"PreToolUse": {"decision": "allow", "reason": "{reason}"}},
        # An answer that decides nothing makes it ask.
        silence={"PreToolUse": {"decision": "allow"}},
        reads_exit_2=False,
    ),
)  # fmt: skip
