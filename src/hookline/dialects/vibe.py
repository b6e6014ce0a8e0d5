"""Mistral Vibe: a list of hooks in TOML; it reads JSON and no exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.hook import Pattern
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import full_pattern
from hookline.dialects.claude_family.payload import output_text, tool_failure
from hookline.dialects.claude_family.render import full_match_text
from hookline.dialects.claude_family.reply_table import on, replies

#: The names since version 2.21 first.
_EVENTS = event_table(
    "vibe",
    "PreToolUse:pre_tool PostToolUse:post_tool Stop:post_agent PreToolUse:before_tool PostToolUse:after_tool"
    " Stop:post_agent_turn",
)
_TOOL = "tool_name tool_input tool_use_id:tool_call_id"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that failed has no event of its own: its status says so, and the event is derived."""
    if event != "PostToolUse":
        return {}
    output = output_text(sent.get("tool_output_text") or sent.get("tool_output"))
    if sent.get("tool_status", "success") == "success":
        return {"tool_output": output}
    kind = "interrupt" if sent.get("tool_status") == "cancelled" else "error"
    return tool_failure(output_text(sent.get("tool_error")) or output, kind)


def _pattern(text: str | None) -> Pattern | None:
    """A glob, or an expression after ``re:``."""
    if text is not None and text.startswith("re:"):
        return full_pattern(text[3:])
    return Pattern() if text in (None, "", "*") else Pattern(style="glob", text=str(text))


def _pattern_text(pattern: Pattern) -> str | None:
    text = full_match_text(pattern)
    return pattern.text if pattern.style == "glob" else text if text is None else f"re:{text}"


_DENY = {"decision": "deny", "reason": "{reason}"}

DIALECT = AgentDialect(
    name="vibe",
    own_forms=True,
    words=field_map(
        "vibe", _EVENTS,
        {"PreToolUse": _TOOL, "PostToolUse": _TOOL + " duration_ms", "PostToolUseFailure": _TOOL + " duration_ms"},
        frame="session_id transcript_path cwd parent_session_id", canonical_fields=_canonical_fields,
    ),
    system=HooksFormat(
        dialect="vibe", events=_EVENTS, shape="list", syntax="toml", constant={}, timeout=60.0, pattern=_pattern,
        pattern_text=_pattern_text, names={"event": "type", "matcher": "match"}, kept=("name", "strict", "description"),
        fields=frozenset({"name", "type", "event", "command", "match", "matcher", "timeout", "strict", "description"}),
        matched=frozenset({"pre_tool", "post_tool", "before_tool", "after_tool"}),
    ),
    replies=replies(
        "mistral-vibe",
        deny={"PreToolUse": None, "Stop": _DENY},
        rewrite={
            "PreToolUse": {"decision": "allow", "hook_specific_output": {"tool_input": "{value}"}},
            "PostToolUse": {"decision": "deny", "reason": "{text}"},
        },
        output_as_reason=True,
        context=on("PostToolUse PostToolUseFailure", {"decision": "allow", "hook_specific_output": {"additional_context": "{context}"}}),
        message={"system_message": "{message}"}, reads_exit_2=False,
    ),
)  # fmt: skip
