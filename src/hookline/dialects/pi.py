"""pi: no hooks file, but an extension of ours that asks us and carries out a few orders."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import PluginDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.payload import output_text, tool_failure
from hookline.dialects.claude_family.reply_table import plugin_replies

_EVENTS = event_table(
    "pi",
    "SessionStart:session_start SessionEnd:session_shutdown UserPromptSubmit:input PreToolUse:tool_call"
    " PostToolUse:tool_result Stop:agent_before_settle PreCompact:session_before_compact PostCompact:session_compact"
    " Stop:agent_end PreModelRequest:before_provider_request PostModelRequest:after_provider_response"
    " PostModelSwitch:model_select",
)
_TOOL = "tool_name:toolName tool_input:input tool_use_id:toolCallId"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    if event == "PostToolUse":
        text = output_text(sent.get("content"))
        if not sent.get("isError"):
            return {"tool_output": text}
        return tool_failure(text)
    if event in {"PreCompact", "PostCompact"}:
        return {"trigger": "manual" if sent.get("reason") == "manual" else "auto"}
    if event == "Stop":
        return {"assistant_message": _last_words(sent)}
    return {}


def _last_words(sent: Mapping[str, Any]) -> str:
    """What the model said last."""
    entries = pick(sent, "context.contextEntries")
    listed = sent.get("messages")
    if isinstance(entries, list):
        listed = [pick(entry, "sourceEntry.message") for entry in entries if isinstance(entry, dict)]
    messages = listed if isinstance(listed, list) else ()
    said = [one for one in messages if isinstance(one, dict) and one.get("role") == "assistant"]
    parts = said[-1].get("content") if said else ""
    if isinstance(parts, list):
        parts = [part for part in parts if isinstance(part, dict) and part.get("type") == "text"]
    return output_text(parts)


DIALECT = PluginDialect(
    field_map(
        "pi", _EVENTS,
        {
            "SessionStart": "source:reason previous_session:previousSessionFile",
            "SessionEnd": "reason",
            "UserPromptSubmit": "prompt:text|prompt",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL,
            "PostToolUseFailure": _TOOL,
            "Stop": "stop_reason:outcome stop_hook_active",
            "PreModelRequest": "llm_request:payload",
        },
        frame="session_id:ctx.session_id|ctx.sessionId transcript_path:ctx.session_file|ctx.sessionFile cwd:ctx.cwd|cwd",
        named_by="type", sources={"new": "clear"}, canonical_fields=_canonical_fields,
    ),
    plugin_replies(
        "pi", deny="PreToolUse UserPromptSubmit Stop", rewrite="PreToolUse PostToolUse UserPromptSubmit",
        context="SessionStart UserPromptSubmit PostToolUse PostToolUseFailure",
    ),
)  # fmt: skip
