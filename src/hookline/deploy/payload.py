"""An event as one of the agents would send it: the inverse of its dialect's ``event_in``."""

from __future__ import annotations

import json
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.agents import Agent
from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec, Origin
from hookline.core.tool_names import tool_fields
from hookline.dialects import dialect_named
from hookline.dialects.event_lookup import native_events


def build_payload(agent: Agent, event: Event) -> dict[str, Any]:
    """The payload on standard input; empty where the agent has no such event."""
    native = native_events(agent)
    if event.kind.name not in native:
        return {}
    spec = HookSpec(
        id="sent", name="sent", event=event.kind.name, native_event=native[event.kind.name], dialect=agent.dialect,
        origin=Origin(file=""), action=Command(form="shell", text="true"), flow=event.kind.flow,
    )  # fmt: skip
    sent = dialect_named(agent.dialect).event_out(spec, _in_its_words(agent, event, native[event.kind.name])).stdin
    payload: dict[str, Any] = json.loads(sent) if sent else {}
    return payload


def _in_its_words(agent: Agent, event: Event, native: str) -> Event:
    """The agent's own name of the tool, and nothing that another agent has sent."""
    tool = event.data.get("tool_name")
    data = {name: value for name, value in event.data.items() if name != "native_tool_name"}
    if isinstance(tool, str):
        data |= {key: value for key, value in tool_fields(tool, None, "").items() if key.startswith("mcp_")}
        data["native_tool_name"] = data["tool_name"] = agent.tool_name(tool)
    return replace(event, data=data, agent=agent.name, native={}, native_name=native)
