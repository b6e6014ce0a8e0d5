"""Amp: no hooks file, but a plugin of ours that asks us and carries out a few orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import PluginDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.payload import output_text, tool_failure
from hookline.dialects.claude_family.reply_table import plugin_replies

_EVENTS = event_table(
    "amp",
    "SessionStart:session.start UserPromptSubmit:agent.start PreToolUse:tool.call PostToolUse:tool.result Stop:agent.end",
)
_TOOL = "tool_name:tool tool_input:input tool_use_id:toolUseID"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    if event == "UserPromptSubmit":
        return {"prompt": output_text(sent.get("message"))}
    if event != "PostToolUse":
        return {"source": "startup"} if event == "SessionStart" else {}
    if sent.get("status") in ("error", "cancelled") or sent.get("error"):
        message = output_text(sent.get("error") or sent.get("output"))
        return tool_failure(message)
    return {"tool_output": output_text(sent.get("output"))}


DIALECT = PluginDialect(
    field_map(
        "amp", _EVENTS,
        {
            "UserPromptSubmit": "prompt:message",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL,
            "PostToolUseFailure": _TOOL,
            "Stop": "stop_reason:status stop_hook_active",
        },
        frame="session_id:thread.id cwd:directory|cwd", named_by="", canonical_fields=_canonical_fields,
    ),
    plugin_replies(
        "amp", deny="PreToolUse Stop", rewrite="PreToolUse PostToolUse",
        context="SessionStart UserPromptSubmit PostToolUse PostToolUseFailure",
    ),
)  # fmt: skip
