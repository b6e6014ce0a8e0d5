"""Cursor: flat lists of commands, one event for every tool and more for some of them, and answers of its own."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.payload import as_text, output_text, read_object
from hookline.dialects.claude_family.reply_table import on, replies

#: The events for all tools come first: those for one kind of tool would make every call arrive twice.
_EVENTS = event_table(
    "cursor",
    "SessionStart:sessionStart SessionEnd:sessionEnd UserPromptSubmit:beforeSubmitPrompt PreToolUse:preToolUse"
    " PostToolUse:postToolUse PostToolUseFailure:postToolUseFailure SubagentStart:subagentStart SubagentStop:subagentStop"
    " PreCompact:preCompact Stop:stop AssistantMessage:afterAgentResponse PreToolUse:beforeShellExecution"
    " PostToolUse:afterShellExecution PreToolUse:beforeMCPExecution PostToolUse:afterMCPExecution PreToolUse:beforeReadFile"
    " FileChanged:afterFileEdit -:beforeTabFileRead -:afterTabFileEdit -:afterAgentThought -:workspaceOpen",
)
_DEAF = frozenset({"afterShellExecution", "afterMCPExecution"})
#: The only answer in which a person can be asked.
_ASKED = frozenset({"beforeShellExecution", "beforeMCPExecution"})
_TOOL = "tool_name tool_input tool_use_id"


def _call(native: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """The tool of an event that is about one kind of tool."""
    match native:
        case "beforeShellExecution" | "afterShellExecution":
            given = {key: sent[key] for key in ("command", "cwd", "sandbox") if key in sent}
            return {"tool_name": "Shell", "tool_input": given}
        case "beforeReadFile" | "beforeTabFileRead":
            return {"tool_name": "Read", "tool_input": {"file_path": sent.get("file_path")}}
        case "afterFileEdit" | "afterTabFileEdit":
            return {
                "tool_name": "Edit",
                "tool_input": {key: sent[key] for key in ("file_path", "edits") if key in sent},
            }
        case _:
            return {}


#: The tool of an event for all tools -> the event about that kind of tool, in whose form its input is told too: a hook of
#: another agent's call is not known to be on the one or the other.
_KINDS = {
    "preToolUse": {"Shell": "beforeShellExecution", "Read": "beforeReadFile"},
    "postToolUse": {"Shell": "afterShellExecution", "Write": "afterFileEdit"},
}


def _call_fields(native: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The call in an event that is about one kind of tool: its input is at the top."""
    given = data.get("tool_input")
    kind = _KINDS.get(native, {}).get(as_text(data.get("tool_name")), native)
    single = bool(_call(kind, {}))
    if not isinstance(given, Mapping) or not (single or kind in {"beforeMCPExecution", "afterMCPExecution"}):
        return {}
    output = output_text(data.get("tool_output"))
    ends = {"afterShellExecution": {"output": output}, "afterMCPExecution": {"result_json": output}}
    return {**(_input(kind, given) if single else {}), **ends.get(kind, {})}


def _input(kind: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    if kind != "afterFileEdit" or "edits" in given:
        return given
    new = given.get("new_string", given.get("content", ""))
    return {**given, "edits": [{"old_string": given.get("old_string", ""), "new_string": new}]}


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    if event == "PostToolUse":
        output = pick(sent, "tool_output|output|result_json")
        parsed = read_object(as_text(output))
        return {"tool_output": output_text(output if parsed is None else parsed)}
    if event == "PostToolUseFailure":
        kind = (
            "interrupt"
            if sent.get("is_interrupt")
            else "blocked"
            if sent.get("failure_type") == "permission_denied"
            else "error"
        )
        return {"tool_error": {"type": kind, "message": output_text(sent.get("error_message"))}}
    if event in {"Stop", "SubagentStop"}:
        loops = sent.get("loop_count")
        return {"continuations": loops if isinstance(loops, int) else 0}
    return {"source": "startup"} if event == "SessionStart" else {}


DIALECT = AgentDialect(
    name="cursor",
    own_forms=True,
    words=field_map(
        "cursor", _EVENTS,
        {
            "SessionStart": "is_background_agent composer_mode",
            "SessionEnd": "reason duration_ms final_status error_message is_background_agent",
            "UserPromptSubmit": "prompt attachments",
            "PreToolUse": _TOOL,
            "PostToolUse": _TOOL + " tool_output duration_ms:duration",
            "PostToolUseFailure": _TOOL + " error_message failure_type is_interrupt duration_ms:duration",
            "SubagentStart": "subagent_id subagent_type prompt:task",
            "SubagentStop": "subagent_id subagent_type status assistant_message:summary loop_count",
            "PreCompact": "trigger",
            "Stop": "stop_reason:status loop_count",
            "AssistantMessage": "message:text",
            "FileChanged": "file_path edits",
        },
        frame="session_id:session_id|conversation_id transcript_path cwd:cwd|workspace_roots.0 model",
        cwd_variable="CURSOR_PROJECT_DIR", mcp=r"MCP:(?:(?P<server>[^:]+):)?(?P<tool>.+)", call=_call, call_fields=_call_fields,
        canonical_fields=_canonical_fields,
    ),
    system=HooksFormat(
        dialect="cursor", events=_EVENTS, shape="flat", head={"version": 1}, constant={}, timeout=60.0, pattern=search_pattern,
        fields=frozenset({"type", "command", "timeout", "matcher", "failClosed", "loop_limit"}),
        kept=("failClosed", "loop_limit"),
        # Elsewhere, what a person does after an edit is done after the tool.
        kinds={
            "beforeShellExecution": "PreToolUse:Bash", "afterShellExecution": "PostToolUse:Bash", "beforeReadFile": "PreToolUse:Read",
            "beforeMCPExecution": "PreToolUse:mcp__.*", "afterMCPExecution": "PostToolUse:mcp__.*", "afterFileEdit": "PostToolUse:Edit|Write",
        },
        matched=frozenset({"preToolUse", "postToolUse", "postToolUseFailure", "beforeShellExecution", "subagentStart", "subagentStop"}),
    ),
    variables=dict.fromkeys(("CURSOR_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), "{cwd}"),
    replies=replies(
        "cursor",
        deny={
            "PreToolUse": None, "UserPromptSubmit": None,
            **on("Stop SubagentStop", {"followup_message": "{reason}"}),
            "SubagentStart": {"permission": "deny", "user_message": "{reason}"},
        },
        ask={"PreToolUse": {"permission": "ask", "user_message": "{reason}", "agent_message": "{reason}"}},
        asked_on=_ASKED,
        allow={"PreToolUse": {"permission": "allow"}},
        rewrite={"PreToolUse": {"permission": "allow", "updated_input": "{value}"}},
        rewritten_on=frozenset({"preToolUse"}),
        context=on("SessionStart PostToolUse PostToolUseFailure", {"additional_context": "{context}"}),
        deaf=_DEAF,
    ),
)  # fmt: skip
