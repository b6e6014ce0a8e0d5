"""Cline: a plugin of ours that asks us. Its files of hooks are read too, but cannot refuse with a reason."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from hookline.dialects.claude_family.agent import PluginDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.payload import as_mapping, as_text, output_text, prompt_text, tool_failure
from hookline.dialects.claude_family.reply_table import plugin_replies

#: The plugin's events first, then the names of the files of hooks, then those in their payload.
_EVENTS = event_table(
    "cline",
    "SessionStart:setup UserPromptSubmit:beforeRun PreToolUse:beforeTool PostToolUse:afterTool Stop:afterRun"
    " PreModelRequest:beforeModel PostModelRequest:afterModel"
    " SessionStart:TaskStart SessionStart:TaskResume PreToolUse PostToolUse UserPromptSubmit Stop:TaskComplete"
    " StopFailure:TaskError Interrupt:TaskCancel SessionEnd:SessionShutdown PreCompact Notification"
    " SessionStart:agent_start SessionStart:agent_resume PreToolUse:tool_call PostToolUse:tool_result Stop:agent_end"
    " StopFailure:agent_error Interrupt:agent_abort SessionEnd:session_shutdown UserPromptSubmit:prompt_submit",
)
_TOOL = (
    "tool_name:tool_call.name|tool_result.name|toolCall.toolName|toolCall.name|tool.name|preToolUse.toolName|preToolUse.tool"
    "|postToolUse.toolName|postToolUse.tool"
    " tool_input:tool_call.input|tool_result.input|input|toolCall.input|preToolUse.parameters|postToolUse.parameters"
    " tool_use_id:tool_call.id|tool_result.id|toolCall.toolCallId|toolCall.id"
)
_LISTS = frozenset({"commands", "files", "queries", "requests", "arguments"})
_TYPED = re.compile(r"<user_input[^>]*>(.*)</user_input>", re.DOTALL)


def _call(_native: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """Of an editor's Cline every part of an input is text, also a list; and a server's tool is one of its own."""
    given = pick(sent, "preToolUse.parameters|postToolUse.parameters")
    if (
        not isinstance(given, Mapping)
        or pick(sent, "tool_call.input|tool_result.input|input|toolCall.input") is not None
    ):
        return {}
    parts = {key: _read(value) if key in _LISTS else value for key, value in given.items()}
    if "server_name" not in parts or "tool_name" not in parts:
        return {"tool_input": parts}
    return {
        "tool_name": f"mcp__{parts['server_name']}__{parts['tool_name']}",
        "tool_input": as_mapping(parts.get("arguments")),
    }


def _read(value: Any) -> Any:
    if as_text(value)[:1] in {"[", "{"}:
        with suppress(ValueError, RecursionError):
            return json.loads(value)
    return value


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    if event == "PostToolUse":
        return _result(sent)
    if event == "UserPromptSubmit":
        return {"prompt": _prompt(sent)}
    if event == "SessionStart":
        return {"source": "resume" if sent.get("hookName") == "agent_resume" else "startup"}
    return {}


def _result(sent: Mapping[str, Any]) -> dict[str, Any]:
    """A command that failed is a success for Cline: the results of its parts say so, and the event is derived."""
    output = pick(sent, "tool_result.output|result.output|result|postToolUse.result")
    parts = output if isinstance(output, list) else [output]
    text = "\n".join(
        output_text(pick(part, "result|error") if isinstance(part, dict) and "query" in part else part)
        for part in parts
    )
    error = pick(sent, "tool_result.error|result.error|error") or pick(sent, "result.isError")
    if error or any(isinstance(part, dict) and part.get("success") is False for part in parts):
        return tool_failure(text if error is True else output_text(error) or text)
    return {"tool_output": text}


def _prompt(sent: Mapping[str, Any]) -> str:
    messages = pick(sent, "snapshot.messages")
    typed = (
        [one for one in messages if isinstance(one, dict) and one.get("role") == "user"]
        if isinstance(messages, list)
        else []
    )
    text = prompt_text(typed[-1].get("content")) if typed else output_text(pick(sent, "prompt|userPromptSubmit.prompt"))
    found = _TYPED.search(text)
    return found[1] if found else text


DIALECT = PluginDialect(
    field_map(
        "cline", _EVENTS,
        {
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " duration_ms:tool_result.durationMs|durationMs",
            "PostToolUseFailure": _TOOL,
            "Stop": "assistant_message:turn.outputText|result.outputText|outputText stop_reason:turn.status|result.status",
            "StopFailure": "error:error.message|error",
        },
        frame="session_id:sessionContext.rootSessionId|session.sessionId|snapshot.conversationId|taskId"
        " cwd:workspaceRoots.0|workspaceInfo.rootPath|directory|cwd agent_id:agent_id|snapshot.agentId",
        named_by="hookName", mcp=r"(?P<server>[^_]\w*?)__(?P<tool>.+)", canonical_fields=_canonical_fields, call=_call,
    ),
    plugin_replies("cline", rewrite="PreToolUse PostToolUse", context="SessionStart UserPromptSubmit PostToolUse"),
)  # fmt: skip
