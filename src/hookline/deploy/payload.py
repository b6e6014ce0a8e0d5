"""An event as one of the agents would send it: the inverse of its dialect's ``event_in``."""

from __future__ import annotations

import json
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import replace
from hookline.core.hook import Command, HookSpec, Origin
from hookline.dialects import dialect_named

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.event import Event
    from hookline.deploy.targets import Target

_GEMINI = {
    "Bash": "run_shell_command", "Read": "read_file", "Write": "write_file", "Edit": "replace", "Glob": "glob",
    "Grep": "search_file_content", "LS": "list_directory", "WebFetch": "web_fetch", "WebSearch": "google_web_search",
}  # fmt: skip

#: Dialect -> canonical tool -> what the agent calls it, where the names differ.
_TOOLS: Mapping[str, Mapping[str, str]] = MappingProxyType(
    {
        "gemini": _GEMINI,
        "qwen": {**_GEMINI, "Edit": "edit", "Grep": "grep_search", "WebSearch": "web_search"},
        "copilot": {
            "Bash": "bash", "Read": "view", "Write": "create", "Edit": "edit", "Grep": "grep", "Glob": "glob",
            "WebFetch": "web_fetch", "Task": "task",
        },
        "opencode": {
            "Bash": "bash", "Read": "read", "Write": "write", "Edit": "edit", "Grep": "grep", "Glob": "glob",
            "LS": "list", "WebFetch": "webfetch", "Task": "task",
        },
    }
)  # fmt: skip


def _native_tool(dialect: str, tool: str) -> str:
    return _TOOLS.get(dialect, {}).get(tool, tool)


def as_sent(target: Target, event: Event) -> dict[str, Any]:
    """The payload on standard input; empty where the agent has no such event."""
    if event.kind.name not in target.events:
        return {}
    if target.form == "plugin":
        return _by_plugin(event)
    named = target.native(event.kind.name)
    spec = HookSpec(
        id="sent", name="sent", event=event.kind.name, native_event=named, dialect=target.dialect,
        origin=Origin(file=""), action=Command(form="shell", text="true"), flow=event.kind.flow,
    )  # fmt: skip
    sent = dialect_named(target.dialect).event_out(spec, _in_its_words(target, event)).stdin
    told: dict[str, Any] = json.loads(sent) if sent else {}
    return told


def _in_its_words(target: Target, event: Event) -> Event:
    """The agent's own name of the tool, and nothing that another agent has sent."""
    tool = event.data.get("tool_name")
    data = {name: value for name, value in event.data.items() if name != "native_tool_name"}
    if isinstance(tool, str):
        data["native_tool_name"] = data["tool_name"] = _native_tool(target.dialect, tool)
    return replace(event, data=data, agent=target.agent, native={}, native_name=target.native(event.kind.name))


def _by_plugin(event: Event) -> dict[str, Any]:
    """What OpenCode gives a plugin, as ours passes it on."""
    data, session = event.data, event.session
    tool = {
        "tool": _native_tool("opencode", str(data.get("tool_name", ""))), "sessionID": session,
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
        case name:
            bus = {"SessionStart": "session.created", "Stop": "session.idle", "PostCompact": "session.compacted"}[name]
            given, made = {"type": bus, "properties": {"sessionID": session, "info": {"id": session}}}, {}
    return {"input": given, "output": made or None, "directory": event.cwd}
