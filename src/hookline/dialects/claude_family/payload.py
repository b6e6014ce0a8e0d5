"""Claude Code's payload: what its hooks read on stdin, and what it sends when it calls us.

One table of names serves both directions, so that they stay each other's inverse.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.core._dataclass import fast_constructor
from hookline.core.agents import ASSUMED, uses_dialect
from hookline.core.event import EVENTS, Event
from hookline.core.fast_json import dumps, loads
from hookline.core.tool_names import native_input, tool_fields
from hookline.core.typed import Any, cast
from hookline.dialects.base import Incoming


def compact(value: Any) -> bytes:
    """One line of JSON in UTF-8, as JavaScript writes it; half a character pair is escaped, never an error."""
    try:
        return dumps(value, ensure_ascii=False, compact=True, default=_plain).encode()
    except UnicodeEncodeError:
        return dumps(value, compact=True, default=_plain).encode()


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return dict(cast("Mapping[str, Any]", value))
    if isinstance(value, tuple | set | frozenset):
        return list(cast("tuple[Any, ...]", value))
    return str(value)


def bash_launchers(source: str) -> list[tuple[str, ...]]:
    """Shell source under bash, and under sh where there is no bash."""
    return [(shell, "-c", source) for shell in ("/bin/bash", "/usr/bin/bash", "/bin/sh")]


def as_text(value: Any) -> str:
    """The text that a value is; "" when it is anything else."""
    return value if isinstance(value, str) else ""


def as_mapping(value: Any) -> Mapping[str, Any]:
    """The JSON object that a value is; an empty one when it is anything else."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


def read_object(text: str) -> dict[str, Any] | None:
    """The one JSON object that the whole text is; None when it is anything else."""
    if not text.lstrip().startswith("{"):
        return None
    try:
        value = loads(text)
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def output_text(output: Any) -> str:
    """A tool's output as the model reads it, whatever shape its agent gave it."""
    if isinstance(output, str):
        return output
    if output is None:
        return ""
    if isinstance(output, list):
        parts: list[Any] = output
        return "\n".join(output_text(part) for part in parts)
    if isinstance(output, Mapping):
        return _object_text(cast("Mapping[str, Any]", output))
    return compact(output).decode()


def prompt_text(prompt: Any) -> str:
    """What a person typed, of a prompt that may come in parts: without the images, whose bytes are no text."""
    if not isinstance(prompt, list):
        return output_text(prompt)
    return output_text([part for part in prompt if not isinstance(part, Mapping) or isinstance(part.get("text"), str)])


def _object_text(output: Mapping[str, Any]) -> str:
    if "stdout" in output:
        parts = (output_text(output["stdout"]), output_text(output.get("stderr")))
        return "\n".join(part for part in parts if part)
    for name in ("text", "content", "output"):
        if isinstance(output.get(name), str | list):
            return output_text(output[name])
    if isinstance(output.get("file"), Mapping) and isinstance(output["file"].get("content"), str):
        return str(output["file"]["content"])
    return compact(output).decode()


def output_in_shape(as_sent: Any, output: Any) -> Any:
    """The inverse: a changed output in the shape that the tool gave it, which some agents insist on. None if the shape
    has no place for it."""
    if not isinstance(output, str) or as_sent is None or isinstance(as_sent, str):
        return output
    if isinstance(as_sent, list):
        return [{"type": "text", "text": output}]
    if not isinstance(as_sent, Mapping):
        return None
    shape = cast("Mapping[str, Any]", as_sent)
    if "stdout" in shape:
        return {**shape, "stdout": output, "stderr": ""}
    for name in ("text", "content", "output"):
        if isinstance(shape.get(name), str | list):
            return {**shape, name: output_in_shape(shape[name], output)}
    if isinstance(shape.get("file"), Mapping) and isinstance(shape["file"].get("content"), str):
        return {**shape, "file": {**shape["file"], "content": output}}
    try:
        changed = loads(output)
    except ValueError:
        return None
    return changed if isinstance(changed, dict) and changed.keys() == shape.keys() else None


#: (our name, an agent's name) of fields, in the agent's order.
FieldNames = tuple[tuple[str, str], ...]


def field_names(text: str) -> FieldNames:
    """``canonical:native`` pairs; one word where both are the same."""
    pairs = (word.partition(":") for word in text.split())
    return tuple((ours, theirs or ours) for ours, _, theirs in pairs)


def _tool_response(data: Mapping[str, Any]) -> Any:
    """A tool's result as the tool gave it, unless a hook has changed the output since."""
    as_sent, output = data.get("tool_response"), data.get("tool_output")
    if as_sent is not None and (output is None or output_text(as_sent) == output):
        return as_sent
    return "" if output is None else output


def result_fields(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    """The result in the payload of the agents that took over Claude Code's fields."""
    return {"tool_response": _tool_response(data)} if event == "PostToolUse" else {}


def tool_failure(message: str, kind: str = "error") -> dict[str, Any]:
    """What a tool that failed is told with, in an agent that has no event of its own for it: the event is derived."""
    return {
        "carried_as": "PostToolUseFailure",
        "derived": ["event"],
        "tool_error": {"type": kind, "message": message},
    }


def after_tool(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    """What agents send after a tool that took over Claude Code's fields."""
    if event == "PostToolUse":
        return {"tool_output": output_text(sent.get("tool_response"))}
    if event == "PostToolUseFailure":
        kind = "interrupt" if sent.get("is_interrupt") else "error"
        return {"tool_error": {"type": kind, "message": output_text(sent.get("error"))}}
    return {}


_make_incoming = fast_constructor(Incoming)

_TOOL = "tool_name tool_input tool_use_id"
_SUBAGENT = "subagent_id:agent_id subagent_type:agent_type agent_transcript_path"
_STOPPED = "assistant_message:last_assistant_message background_tasks session_crons"


#: Event -> (our name, Claude Code's name) of its fields, in the order Claude Code sends them.
_FIELDS: Mapping[str, FieldNames] = MappingProxyType(
    {
        name: field_names(text)
        for name, text in {
            "SessionStart": "source model seconds_since_last_response context_tokens",
            "SessionEnd": "reason",
            "Setup": "trigger",
            "UserPromptSubmit": "prompt",
            "UserPromptExpansion": "expansion_type command_name command_args command_source prompt",
            "PreToolUse": _TOOL + " mcp_server",
            "PermissionRequest": "tool_name tool_input permission_suggestions",
            "PermissionDenied": _TOOL + " reason",
            "PostToolUse": _TOOL + " tool_response duration_ms mcp_server",
            "PostToolUseFailure": _TOOL + " error is_interrupt duration_ms",
            "PostToolBatch": "tool_calls",
            "Stop": "stop_hook_active " + _STOPPED,
            "SubagentStart": _SUBAGENT,
            "SubagentStop": _SUBAGENT + " stop_hook_active " + _STOPPED,
            "StopFailure": "error assistant_message:last_assistant_message",
            "PreCompact": "trigger custom_instructions",
            "PostCompact": "trigger summary:compact_summary",
            "Notification": "message notification_type title",
            "MessageDisplay": "turn_id message_id index final message:delta",
            "InstructionsLoaded": "file_path memory_type load_reason",
            "CwdChanged": "old_cwd new_cwd",
        }.items()
    }
)

#: The same, of those that we call otherwise.
_RENAMED = MappingProxyType(
    {name: tuple(pair for pair in pairs if pair[0] != pair[1]) for name, pairs in _FIELDS.items()}
)

#: Before the fields of the event, in this order.
_FRAME = ("session_id", "transcript_path", "cwd", "prompt_id", "permission_mode", "agent_id", "agent_type", "effort")
_WITH_MODE = frozenset(
    {
        "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch",
        "PermissionRequest", "PermissionDenied", "Stop", "SubagentStop",
    }
)  # fmt: skip


# ── out: what a hook reads ───────────────────────────────────────────────────────────────────────────


def payload(name: str, event: Event) -> dict[str, Any]:
    """The event in Claude Code's format; its own payload is passed on whole, with what hooks changed in it."""
    sent = dict(event.native) if uses_dialect(event.agent, "claude") else {}
    sent |= {key: event.data[key] for key in _FRAME if event.data.get(key) is not None}
    sent |= {"session_id": event.session or sent.get("session_id", ""), "cwd": event.cwd, "hook_event_name": name}
    sent.setdefault("transcript_path", "")
    if event.kind.name in _WITH_MODE:
        sent.setdefault("permission_mode", "default")
    data = {**event.data, **_native_fields(event), **own_input(event, "claude")}
    pairs = _FIELDS.get(event.kind.name) or tuple((key, key) for key in data)
    sent |= {theirs: data[ours] for ours, theirs in pairs if ours in data}
    return _framed_first(sent)


def own_input(event: Event, dialect: str) -> dict[str, Any]:
    """The input of an agent's own tool under its own names, for the hooks that were written for this agent."""
    if "native_tool_input" not in event.data or not uses_dialect(event.agent, dialect):
        return {}
    own = native_input(event.data, event.cwd)
    return {} if own is None else {"tool_input": own}


def project_dir(event: Event) -> str:
    """Claude Code keeps it while its working directory moves; elsewhere they are the same."""
    given = event.environ.get("CLAUDE_PROJECT_DIR", "") if uses_dialect(event.agent, "claude") else ""
    return given or event.cwd


def _framed_first(sent: dict[str, Any]) -> dict[str, Any]:
    first = (*_FRAME, "hook_event_name")
    return {**{key: sent[key] for key in first if key in sent}, **sent}


def _native_fields(event: Event) -> dict[str, Any]:
    """Fields that Claude Code words otherwise than we do."""
    data = event.data
    match event.kind.name:
        case "Stop" | "SubagentStop":
            active = data.get("stop_hook_active", bool(data.get("continuations")))
            return {"stop_hook_active": active, "background_tasks": data.get("background_tasks", []),
                    "session_crons": data.get("session_crons", [])}  # fmt: skip
        case "PostToolUse":
            return {**_tool_name(event), "tool_response": _tool_response(data)}
        case "PostToolUseFailure":
            return {**_tool_name(event), **_error(data)}
        case "PreToolUse" | "PermissionRequest" | "PermissionDenied":
            return _tool_name(event)
        case "SessionStart":
            return {"source": data.get("source") or "startup"}
        case "SessionEnd":
            return {"reason": data.get("reason") or "other"}
        case "PreCompact":
            return {"trigger": data.get("trigger") or "auto", "custom_instructions": data.get("custom_instructions")}
        case _:
            return {}


def _tool_name(event: Event) -> dict[str, Any]:
    native = event.data.get("native_tool_name")
    return {"tool_name": native} if native and uses_dialect(event.agent, "claude") else {}


def _error(data: Mapping[str, Any]) -> dict[str, Any]:
    error = data.get("tool_error")
    fields: Mapping[str, Any] = error if isinstance(error, Mapping) else {"message": error}
    interrupted = data.get("is_interrupt", fields.get("type") in ("abort", "interrupt"))
    message = fields.get("message")
    return {"error": data.get("error", "") if message is None else message, "is_interrupt": interrupted}


# ── in: what Claude Code sends ───────────────────────────────────────────────────────────────────────


def event_in(name: str, sent: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """Every field survives; those that have a name of ours are found under it."""
    native = str(sent.get("hook_event_name") or name)
    event = native if native in EVENTS else f"claude:{native}"
    data = dict(sent)
    data.pop("hook_event_name", None)
    for ours, theirs in _RENAMED.get(event, ()):
        if theirs in sent:
            data[ours] = sent[theirs]
    data |= _canonical_fields(event, sent)
    return _make_incoming(
        event=event,
        data=data,
        session=str(sent.get("session_id") or environ.get("CLAUDE_CODE_SESSION_ID", "")),
        cwd=str(sent.get("cwd") or environ.get("CLAUDE_PROJECT_DIR", "")),
        native_name=native,
    )


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if isinstance(sent.get("tool_name"), str):
        found |= tool_fields(sent["tool_name"], sent.get("tool_input"), as_text(sent.get("cwd")))
    found |= after_tool(event, sent)
    if event in {"Stop", "SubagentStop"}:
        found["continuations"] = int(bool(sent.get("stop_hook_active")))
    if event == "UserPromptSubmit" and str(sent.get("prompt", "")).startswith("<task-notification>"):
        # The end of a background task comes as a prompt that nobody typed.
        found["auto_submit"] = True
    return found


def payload_agent(payload: Mapping[str, Any]) -> str:
    """The agent whose payload it is, as far as it shows. Claude Code always names a transcript, and never the time."""
    if isinstance(payload.get("event_type"), str) and "working_directory" in payload:
        return "letta-code"
    camel = isinstance(payload.get("sessionId"), str) and "session_id" not in payload
    pascal = "hook_event_name" in payload and "timestamp" in payload and "transcript_path" not in payload
    return "copilot-cli" if camel or pascal else ASSUMED
