"""Kiro: a list of hooks with triggers; plain text on stdout is context, exit code 2 the only refusal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.payload import output_text, tool_failure
from hookline.dialects.claude_family.reply_table import EXIT_2, on, replies

#: The triggers of a hooks file first, then the events of an older agent file.
_EVENTS = event_table(
    "kiro",
    "SessionStart UserPromptSubmit PreToolUse PostToolUse Stop FileChanged:PostFileSave FileChanged:PostFileCreate"
    " FileChanged:PostFileDelete TaskCreated:PreTaskExec TaskCompleted:PostTaskExec -:Manual"
    " SessionStart:agentSpawn UserPromptSubmit:userPromptSubmit PreToolUse:preToolUse PostToolUse:postToolUse Stop:stop",
)
_TOOL = "tool_name tool_input tool_use_id"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    if event != "PostToolUse":
        return {"source": "startup"} if event == "SessionStart" else {}
    response = sent.get("tool_response")
    text = output_text(response.get("result") if isinstance(response, dict) and "result" in response else response)
    if isinstance(response, dict) and response.get("success") is False:
        return tool_failure(text)
    return {"tool_output": text}


DIALECT = AgentDialect(
    name="kiro",
    own_forms=True,
    words=field_map(
        "kiro", _EVENTS,
        {
            "SessionStart": "source",
            "UserPromptSubmit": "prompt",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " tool_response",
            "FileChanged": "file_path",
            "TaskCreated": "spec_name task_name",
            "TaskCompleted": "spec_name task_name task_success",
        },
        frame="session_id cwd", mcp=r"@?(?P<server>[\w-]+)/(?P<tool>.+)", canonical_fields=_canonical_fields,
    ),
    system=HooksFormat(
        dialect="kiro", events=_EVENTS, shape="list", head={"version": "v1"}, timeout=60.0, pattern=search_pattern,
        constant={"action": {"type": "command"}, "enabled": True},
        names={"event": "trigger", "command": "action.command"},
        fields=frozenset({"name", "trigger", "event", "matcher", "command", "timeout", "enabled", "action"}), kept=("name",),
        matched=frozenset({"PreToolUse", "PostToolUse", "PostFileCreate", "PostFileSave", "PostFileDelete"}),
    ),
    replies=replies(
        "kiro", deny=on("PreToolUse UserPromptSubmit", EXIT_2), context=on("SessionStart UserPromptSubmit", "{context}")
    ),
)  # fmt: skip
