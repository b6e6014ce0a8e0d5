"""Hermes Agent: commands in its YAML file, started without a shell; it reads JSON and no exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import full_pattern
from hookline.dialects.claude_family.payload import as_text, output_text, prompt_text, read_object, tool_failure
from hookline.dialects.claude_family.render import full_match_text
from hookline.dialects.claude_family.reply_table import replies

_EVENTS = event_table(
    "hermes",
    "SessionStart:on_session_start SessionEnd:on_session_finalize UserPromptSubmit:pre_llm_call PreToolUse:pre_tool_call"
    " PostToolUse:post_tool_call Stop:post_llm_call Stop:pre_verify PreModelRequest:pre_api_request"
    " PostModelRequest:post_api_request SubagentStart:subagent_start SubagentStop:subagent_stop"
    " PermissionRequest:pre_approval_request -:post_approval_response -:transform_tool_result -:on_session_end",
)
_TOOL = "tool_name tool_input tool_use_id:extra.tool_call_id"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """A tool that failed has no event of its own: its result says so, and the event is derived."""
    if event == "UserPromptSubmit":
        return {"prompt": prompt_text(pick(sent, "extra.user_message"))}
    if event != "PostToolUse":
        return {}
    given = pick(sent, "extra.result")
    result = read_object(as_text(given)) or {}
    error = pick(sent, "extra.error_message") or result.get("error")
    text = output_text(pick(result, "output|content|diff|message") or given)
    if error or pick(sent, "extra.status") == "error" or result.get("exit_code") not in (0, None):
        message = output_text(error) or f"exit code {result.get('exit_code')}\n{text}"
        blocked = pick(sent, "extra.status") == "blocked"
        return tool_failure(message, "blocked" if blocked else "error")
    return {"tool_output": text}


def _call(native: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """It asks for the permission of commands only, and names no tool then."""
    command = pick(sent, "extra.command") if "approval" in native and not sent.get("tool_name") else None
    return {} if command is None else {"tool_name": "terminal", "tool_input": {"command": command}}


DIALECT = AgentDialect(
    name="hermes",
    own_forms=True,
    words=field_map(
        "hermes", _EVENTS,
        {
            "SessionStart": "model:extra.model platform:extra.platform",
            "SessionEnd": "reason:extra.reason platform:extra.platform",
            "UserPromptSubmit": "prompt:extra.user_message model:extra.model",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " duration_ms:extra.duration_ms",
            "PermissionRequest": _TOOL,
            "Stop": "assistant_message:extra.assistant_response|extra.final_response user_message:extra.user_message"
            " changed_paths:extra.changed_paths attempt:extra.attempt",
            "PreModelRequest": "llm_request:extra.request model:extra.model",
            "PostModelRequest": "llm_response:extra.response model:extra.model",
            "SubagentStart": "subagent_type:extra.child_role subagent_id:extra.child_subagent_id",
            "SubagentStop": "subagent_type:extra.child_role subagent_id:extra.child_subagent_id"
            " assistant_message:extra.child_summary",
        },
        frame="session_id cwd turn_id:extra.turn_id", session_variable="HERMES_SESSION_ID", canonical_fields=_canonical_fields,
        call=_call, mcp=r"mcp_(?P<server>[^_]+)_(?P<tool>.+)",
    ),
    system=HooksFormat(
        dialect="hermes", events=_EVENTS, shape="flat", syntax="yaml", constant={}, timeout=60.0, pattern=full_pattern,
        pattern_text=full_match_text, fields=frozenset({"matcher", "command", "timeout"}), switches=("output_spill",),
        matched=frozenset({"pre_tool_call", "post_tool_call"}),
    ),
    variables={"HERMES_SESSION_ID": "{session}"},
    replies=replies(
        "hermes",
        deny={"PreToolUse": None, "Stop": {"action": "continue", "message": "{reason}"}},
        context={"UserPromptSubmit": {"context": "{context}"}},
        deaf=frozenset({"post_llm_call"}), reads_exit_2=False,
    ),
)  # fmt: skip
