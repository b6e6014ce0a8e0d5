"""Windsurf's Cascade: one event per kind of tool, and exit code 2 as the only answer that it reads."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.tool_names import canonical
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map, pick
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.payload import as_mapping, output_text
from hookline.dialects.claude_family.reply_table import EXIT_2, on, replies

_EVENTS = event_table(
    "windsurf",
    "PreToolUse:pre_run_command PreToolUse:pre_write_code PreToolUse:pre_read_code PreToolUse:pre_mcp_tool_use"
    " PostToolUse:post_run_command PostToolUse:post_write_code PostToolUse:post_read_code PostToolUse:post_mcp_tool_use"
    " UserPromptSubmit:pre_user_prompt Stop:post_cascade_response Stop:post_cascade_response_with_transcript"
    " -:post_setup_worktree",
)
_TOOLS = {"run_command": "run_command", "write_code": "Edit", "read_code": "Read"}
_KINDS = {"Bash": "run_command", "Write": "write_code", "Edit": "write_code", "Read": "read_code"}


def _call(native: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    given, kind = as_mapping(sent.get("tool_info")), native.partition("_")[2]
    if kind == "mcp_tool_use":
        name = f"mcp__{given.get('mcp_server_name', 'unknown')}__{given.get('mcp_tool_name', '')}"
        return {"tool_name": name, "tool_input": given.get("mcp_tool_arguments") or {}}
    return {"tool_name": _TOOLS[kind], "tool_input": dict(given)} if kind in _TOOLS else {}


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    return {"tool_output": output_text(pick(sent, "tool_info.mcp_result"))} if event == "PostToolUse" else {}


def _native_fields(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The kind of a call is the name of its event; a tool that it has no event for is told as a command."""
    given = data.get("tool_input")
    if event not in {"PreToolUse", "PostToolUse"} or not isinstance(given, Mapping):
        return {}
    name = str(data.get("tool_name", ""))
    kind = "mcp_tool_use" if name.startswith("mcp__") else _KINDS.get(canonical(name), "")
    named = {"agent_action_name": f"{event.removesuffix('ToolUse').lower()}_{kind}"} if kind else {}
    return {**named, "tool_info": _told(kind, name, given)}


def _told(kind: str, name: str, given: Mapping[str, Any]) -> Mapping[str, Any]:
    if kind == "mcp_tool_use" and "mcp_tool_name" not in given:
        _, server, tool = f"{name}__".split("__", 2)
        return {"mcp_server_name": server, "mcp_tool_name": tool.removesuffix("__"), "mcp_tool_arguments": given}
    if kind == "write_code" and "edits" not in given:
        new = given.get("new_string", given.get("content", ""))
        return {**given, "edits": [{"old_string": given.get("old_string", ""), "new_string": new}]}
    line = given.get("command_line", given.get("command"))
    return given if line is None else {**given, "command_line": line}


DIALECT = AgentDialect(
    name="windsurf",
    own_forms=True,
    words=field_map(
        "windsurf", _EVENTS,
        {
            "UserPromptSubmit": "prompt:tool_info.user_prompt",
            "Stop": "assistant_message:tool_info.response transcript_path:tool_info.transcript_path",
        },
        frame="session_id:trajectory_id cwd:tool_info.cwd|tool_info.root_workspace_path turn_id:execution_id model:model_name timestamp", named_by="agent_action_name",
        call=_call, canonical_fields=_canonical_fields, native_fields=_native_fields,
    ),
    system=HooksFormat(
        dialect="windsurf", events=_EVENTS, shape="flat", constant={}, timeout=600.0,
        fields=frozenset({"command", "powershell", "show_output", "working_directory"}),
        kept=("powershell", "show_output", "working_directory"),
        kinds={
            f"{side}_{kind}": f"{event}:{tools}"
            for side, event in (("pre", "PreToolUse"), ("post", "PostToolUse"))
            for kind, tools in (("run_command", "Bash"), ("write_code", "Edit|Write"), ("read_code", "Read"), ("mcp_tool_use", "mcp__.*"))
        },
    ),
    replies=replies("windsurf", deny=on("PreToolUse UserPromptSubmit", EXIT_2)),
)  # fmt: skip
