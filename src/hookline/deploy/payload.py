"""An event as one of the agents would send it: the inverse of its dialect's ``event_in``."""

from __future__ import annotations

import json
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.agents import Agent
from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec, Origin
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events


def build_payload(agent: Agent, event: Event) -> dict[str, Any]:
    """The payload on standard input; empty where the agent has no such event."""
    native = native_events(agent)
    if event.kind.name not in native:
        return {}
    if agent.form == "plugin":
        return _by_plugin(agent, event)
    spec = HookSpec(
        id="sent", name="sent", event=event.kind.name, native_event=native[event.kind.name], dialect=agent.dialect,
        origin=Origin(file=""), action=Command(form="shell", text="true"), flow=event.kind.flow,
    )  # fmt: skip
    sent = dialect_named(agent.dialect).event_out(spec, _in_its_words(agent, event, native[event.kind.name])).stdin
    told: dict[str, Any] = json.loads(sent) if sent else {}
    return told


def _in_its_words(agent: Agent, event: Event, native: str) -> Event:
    """The agent's own name of the tool, and nothing that another agent has sent."""
    tool = event.data.get("tool_name")
    data = {name: value for name, value in event.data.items() if name != "native_tool_name"}
    if isinstance(tool, str):
        data["native_tool_name"] = data["tool_name"] = agent.tools.get(tool, tool)
    return replace(event, data=data, agent=agent.name, native={}, native_name=native)


def _by_plugin(agent: Agent, event: Event) -> dict[str, Any]:
    """What OpenCode gives a plugin, as ours passes it on."""
    data, session = event.data, event.session
    name = str(data.get("tool_name", ""))
    tool = {
        "tool": agent.tools.get(name, name), "sessionID": session,
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
