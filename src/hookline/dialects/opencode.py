"""OpenCode: no hooks file, but a plugin of ours that asks us and carries out a few orders."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Decision, HookError, Reply, RunResult
from hookline.core.tool_names import tool_fields
from hookline.dialects import base
from hookline.dialects.base import Answer, Call, ConfigPlace, Incoming, Layer, Lookup, Parsed, Rendered, Syntax
from hookline.dialects.claude_family.payload import as_mapping, as_text, output_text
from hookline.dialects.claude_family.render import Losses
from hookline.dialects.claude_family.reply_reader import Rules, read
from hookline.dialects.claude_family.reply_table import plugin_replies, write

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


def _read_event(name: str, sent: Mapping[str, Any]) -> Incoming:
    """Every field survives beside the ones that have a name of ours."""
    given, made = as_mapping(sent.get("input")), as_mapping(sent.get("output"))
    # A bus event names itself; the plugin may prefix its name as OpenCode's own log does.
    native = str(name or given.get("type") or "").removeprefix("event:").removeprefix("event-")
    inside = as_mapping(given.get("properties"))
    event = _EVENTS.get(native, f"opencode:{native}")
    data = {**sent, **_meant(event, given, made, inside)}
    if "native_tool_name" in data:
        data |= tool_fields(data["native_tool_name"], data.get("tool_input"), as_text(sent.get("directory")))
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
            return {"source": "startup", "subagent": bool(as_mapping(inside.get("info")).get("parentID"))}
        case "StopFailure":
            return {"error": inside.get("error")}
        case "SessionEnd":
            return {"reason": "exit"}
        case _:
            return {}


def _tool(given: Mapping[str, Any]) -> dict[str, Any]:
    tool = str(given.get("tool") or "")
    return {"native_tool_name": tool, "tool_use_id": given.get("callID")}


def _result(made: Mapping[str, Any]) -> dict[str, Any]:
    """OpenCode has no event of its own for a command that failed: its exit code says so, and the event is derived."""
    text, code = output_text(made.get("output")), as_mapping(made.get("metadata")).get("exit", 0)
    if code is None or (isinstance(code, int) and code != 0):  # None: it was ended, or took too long
        ended = "no exit code" if code is None else f"exit code {code}"
        return {
            "carried_as": "PostToolUseFailure", "derived": ["event"],
            "tool_error": {"type": "error", "message": f"{ended}\n{text}"},
        }  # fmt: skip
    return {"tool_output": text}


_REPLIES = plugin_replies(
    "opencode", rewrite="PreToolUse PostToolUse",
    context="UserPromptSubmit PostToolUse PostToolUseFailure SessionStart PreCompact",
)  # fmt: skip


class _OpenCodeDialect:
    """An agent without hooks of its own: nothing is read from its files, and nothing can be written into them."""

    name = "opencode"
    syntax: Syntax = "json"
    events = _EVENTS
    includes = staticmethod(base.includes)

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        return ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:  # the protocol's
        return Parsed()

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        losses = Losses("opencode")
        for spec in specs:
            losses.leave_out(spec, "a hook")
        return Rendered(text="", losses=losses.all())

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        del spec
        return Call(cwd=event.cwd)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return read(spec, event, raw, Rules())

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        del environ
        return _read_event(name, payload)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        """Orders for the plugin: ``deny`` throws, ``args`` and ``output`` are put in place, ``context`` is added."""
        return write(_REPLIES, event, decision, event.native_name)


DIALECT = _OpenCodeDialect()
