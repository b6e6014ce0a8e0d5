"""Gemini's events and the names of their fields."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hookline.dialects.claude_family.field_map import FieldMap, field_names
from hookline.dialects.claude_family.payload import output_text

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "SessionStart": "SessionStart",
        "SessionEnd": "SessionEnd",
        "BeforeAgent": "UserPromptSubmit",
        "AfterAgent": "Stop",
        "BeforeModel": "PreModelRequest",
        "AfterModel": "PostModelRequest",
        "BeforeToolSelection": "PreToolSelection",
        "BeforeTool": "PreToolUse",
        "AfterTool": "PostToolUse",
        "PreCompress": "PreCompact",
        "Notification": "Notification",
    }
)


def _meant(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    server = sent.get("mcp_context")
    if isinstance(server, dict) and server.get("server_name") and server.get("tool_name"):
        found["tool_name"] = f"mcp__{server['server_name']}__{server['tool_name']}"
    if event == "PostToolUse":
        found |= _result(sent.get("tool_response"))
    if event == "Stop":
        found["continuations"] = int(bool(sent.get("stop_hook_active")))
    return found


def _result(response: Any) -> dict[str, Any]:
    """Gemini has no event of its own for a tool that failed: its result says so, and the event is derived."""
    told: Mapping[str, Any] = response if isinstance(response, dict) else {"llmContent": response}
    error = told.get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return {
            "carried_as": "PostToolUseFailure", "derived": ["event"],
            "tool_error": {"type": "error", "message": output_text(message)},
        }  # fmt: skip
    return {"tool_output": output_text(told.get("llmContent", ""))}


def _derived(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "PostToolUse" | "PostToolUseFailure":
            return {"tool_response": _response(data)}
        case "Stop":
            return {"stop_hook_active": data.get("stop_hook_active", bool(data.get("continuations")))}
        case _:
            return {}


def _response(data: Mapping[str, Any]) -> Any:
    as_sent, output = data.get("tool_response"), data.get("tool_output")
    if isinstance(as_sent, dict) and (output is None or output_text(as_sent.get("llmContent", "")) == output):
        return as_sent
    text = output_text(output)
    error = data.get("tool_error")
    failed = {"error": error.get("message", "")} if isinstance(error, dict) else {}
    return {"llmContent": text, "returnDisplay": text, **failed}


WORDS = FieldMap(
    dialect="gemini",
    events=EVENTS,
    frame=field_names("session_id transcript_path cwd timestamp"),
    session_variable="GEMINI_SESSION_ID",
    cwd_variable="GEMINI_CWD",
    fields={
        "SessionStart": field_names("source"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "Stop": field_names("user_message:prompt assistant_message:prompt_response stop_hook_active"),
        "PreModelRequest": field_names("llm_request"),
        "PreToolSelection": field_names("llm_request"),
        "PostModelRequest": field_names("llm_request llm_response"),
        "PreToolUse": field_names("tool_name tool_input mcp_context"),
        "PostToolUse": field_names("tool_name tool_input tool_response mcp_context"),
        "PostToolUseFailure": field_names("tool_name tool_input tool_response mcp_context"),
        "PreCompact": field_names("trigger"),
        "Notification": field_names("notification_type message details"),
    },
    meant=_meant,
    derived=_derived,
    always={"SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"}, "PreCompact": {"trigger": "auto"}},
)  # fmt: skip
