"""OpenCode: no hooks file, but a plugin of ours that asks us and carries out a few orders."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.tool_names import tool_fields
from hookline.dialects.base import Call, Incoming
from hookline.dialects.claude_family.agent import PluginDialect
from hookline.dialects.claude_family.field_map import FieldMap
from hookline.dialects.claude_family.payload import as_mapping, as_text, compact, output_text, tool_failure
from hookline.dialects.claude_family.reply_table import plugin_replies

_EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "tool.execute.before": "PreToolUse",
        "tool.execute.after": "PostToolUse",
        "chat.message": "UserPromptSubmit",
        "session.created": "SessionStart",
        "session.idle": "Stop",
        "session.error": "StopFailure",
        "session.compacted": "PostCompact",
        "experimental.session.compacting": "PreCompact",
        "permission.asked": "opencode:permission.asked",
        "permission.replied": "opencode:permission.replied",
        "dispose": "SessionEnd",
    }
)


#: Tools of MCP servers are ``server_tool``; of its own these have an underscore.
_SERVERS, _OWN = re.compile(r"\A(?!mcp__)([^_]+)_(.+)\Z"), frozenset({"apply_patch", "plan_enter", "plan_exit"})


def _read_event(name: str, sent: Mapping[str, Any]) -> Incoming:
    """Every field survives beside the ones that have a name of ours."""
    given, made = as_mapping(sent.get("input")), as_mapping(sent.get("output"))
    # A bus event names itself; the plugin may prefix its name as OpenCode's own log does.
    native = str(name or given.get("type") or "").removeprefix("event:").removeprefix("event-")
    inside = as_mapping(given.get("properties"))
    event = _EVENTS.get(native, f"opencode:{native}")
    data = {**sent, **_meant(event, given, made, inside)}
    if "native_tool_name" in data:
        tool = data["native_tool_name"]
        name = "" if tool in _OWN else _SERVERS.sub(r"mcp__\1__\2", tool)
        data |= tool_fields(tool, data.get("tool_input"), as_text(sent.get("directory")), name if name != tool else "")
    session = given.get("sessionID") or inside.get("sessionID") or ""
    if session:
        data["session_id"] = session
    return Incoming(
        event=str(data.pop("carried_as", event)),
        data=data,
        session=str(session),
        cwd=as_text(sent.get("directory")),
        native_name=native,
    )


def _meant(event: str, given: Mapping[str, Any], made: Mapping[str, Any], inside: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "PreToolUse":
            return {**_tool(given), "tool_input": made.get("args", {})}
        case "PostToolUse":
            return {**_tool(given), "tool_input": given.get("args", {}), **_result(made)}
        case "UserPromptSubmit":
            parts = made.get("parts")
            listed: list[Any] = parts if isinstance(parts, list) else []
            texts = [part["text"] for part in listed if isinstance(part, dict) and isinstance(part.get("text"), str)]
            return {"prompt": "\n".join(texts), "agent_name": as_mapping(made.get("message")).get("agent")}
        case "SessionStart":
            return {
                "source": given.get("source", "startup"),
                "subagent": bool(as_mapping(inside.get("info")).get("parentID")),
            }
        case "StopFailure":
            return {"error": inside.get("error")}
        case "SessionEnd":
            return {"reason": "exit"}
        case _:
            return {}


def _tool(given: Mapping[str, Any]) -> dict[str, Any]:
    return {"native_tool_name": as_text(given.get("tool")), "tool_use_id": given.get("callID")}


def _result(made: Mapping[str, Any]) -> dict[str, Any]:
    """OpenCode has no event of its own for a command that failed: its exit code says so, and the event is derived."""
    text, code = output_text(made.get("output")), as_mapping(made.get("metadata")).get("exit", 0)
    if code is None or (isinstance(code, int) and code != 0):  # None: it was ended, or took too long
        ended = "no exit code" if code is None else f"exit code {code}"
        return tool_failure(f"{ended}\n{text}")
    return {"tool_output": text}


def _payload(event: Event) -> dict[str, Any]:
    """What OpenCode gives a plugin, as ours passes it on."""
    data, session = event.data, event.session
    tool = {
        "tool": data.get("native_tool_name", data.get("tool_name", "")), "sessionID": session,
        "callID": data.get("tool_use_id"),
    }  # fmt: skip
    match event.kind.name:
        case "PreToolUse":
            given, made = tool, {"args": data.get("tool_input", {})}
        case "PostToolUse":
            output = data.get("tool_output", "")
            given, made = {**tool, "args": data.get("tool_input", {})}, {"title": "", "metadata": {}, "output": output}
        case "UserPromptSubmit":
            parts = [{"type": "text", "text": data.get("prompt", "")}]
            given, made = {"sessionID": session}, {"message": {"agent": "build"}, "parts": parts}
        case "PreCompact":
            given, made = {"sessionID": session}, {"context": []}
        case "SessionEnd":
            return {"input": None, "output": None, "directory": event.cwd}
        case "StopFailure":
            given, made = (
                {"type": "session.error", "properties": {"sessionID": session, "error": data.get("error")}},
                {},
            )
        case other:
            bus = {"SessionStart": "session.created", "Stop": "session.idle", "PostCompact": "session.compacted"}[other]
            given, made = {"type": bus, "properties": {"sessionID": session, "info": {"id": session}}}, {}
    return {"input": given, "output": made or None, "directory": event.cwd}


_REPLIES = plugin_replies(
    "opencode", rewrite="PreToolUse PostToolUse",
    context="UserPromptSubmit PostToolUse PostToolUseFailure SessionStart PreCompact",
)  # fmt: skip


class _OpenCodeDialect(PluginDialect):
    """Its payload has two objects, what a plugin is given and what it may change."""

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        del spec
        return Call(stdin=compact(_payload(event)), cwd=event.cwd)

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        del environ
        return _read_event(name, payload)


DIALECT = _OpenCodeDialect(FieldMap(dialect="opencode", events=_EVENTS, fields={}), _REPLIES)
