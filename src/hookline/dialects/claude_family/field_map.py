"""The payload of one agent as a table of names, read in both directions: what it sends us, what its hooks read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.core.tool_names import tool_fields
from hookline.dialects.base import Incoming
from hookline.dialects.claude_family.payload import FieldNames, as_text, field_names, output_text, own_input

__all__ = ["FieldMap", "error_text", "event_in", "field_names", "llm_output", "llm_response", "payload"]

#: The field of an event at which a hook can keep the agent working.
_CONTINUED = ("stop_hook_active", "stop_hook_active")


def _nothing(_event: str, _sent: Mapping[str, Any]) -> dict[str, Any]:
    return {}


@dataclass(frozen=True, slots=True, kw_only=True)
class FieldMap:
    """One agent's names for fields and events."""

    #: The payload of an agent of this dialect is passed on to its own hooks whole.
    dialect: str
    #: Native event -> canonical event.
    events: Mapping[str, str]
    #: Canonical event -> (our name, its name) of its fields, in its order.
    fields: Mapping[str, FieldNames]
    #: (our name, its name) of what every payload carries.
    frame: FieldNames = field_names("session_id transcript_path cwd")
    #: Where a payload names its event; "" where it does not.
    named_by: str = "hook_event_name"
    #: Variables that know the session and the directory when the payload does not.
    session_variable: str = ""
    cwd_variable: str = ""
    #: ``canonical_fields(event, sent)``: further fields of ours that follow from what was sent.
    canonical_fields: Callable[[str, Mapping[str, Any]], dict[str, Any]] = field(default=_nothing)
    #: ``native_fields(event, data)``: fields of its own that follow from ours.
    native_fields: Callable[[str, Mapping[str, Any]], dict[str, Any]] = field(default=_nothing)
    #: Canonical event -> fields it always sends, with what they are when nobody knows better.
    always: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────


def event_in(words: FieldMap, name: str, sent: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """Every field survives; those that have a name of ours are found under it as well."""
    native = as_text(sent.get(words.named_by)) or name
    event = words.events.get(native, f"{words.dialect}:{native}")
    data = {key: value for key, value in sent.items() if key != words.named_by}
    for ours, theirs in (*words.frame, *words.fields.get(event, ())):
        if ours != theirs and theirs in sent:
            data[ours] = sent[theirs]
    if isinstance(data.get("tool_name"), str):
        cwd = as_text(data.get("cwd")) or environ.get(words.cwd_variable, "")
        data |= tool_fields(data["tool_name"], data.get("tool_input"), cwd)
    if _CONTINUED in words.fields.get(event, ()):
        data["continuations"] = int(bool(sent.get("stop_hook_active")))
    data |= words.canonical_fields(event, sent)
    return Incoming(
        event=str(data.pop("carried_as", event)),
        data=data,
        session=str(data.get("session_id") or environ.get(words.session_variable, "")),
        cwd=str(data.get("cwd") or environ.get(words.cwd_variable, "")),
        native_name=native,
    )


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


def payload(words: FieldMap, name: str, event: Event) -> dict[str, Any]:
    """The event in this agent's format; its own payload is passed on whole, with what hooks changed in it."""
    own = uses_dialect(event.agent, words.dialect)
    sent: dict[str, Any] = dict(event.native) if own else {}
    data = {**event.data, "session_id": event.session or event.data.get("session_id", ""), "cwd": event.cwd}
    native_tool = data.get("native_tool_name")
    if own and native_tool:
        data |= {"tool_name": native_tool, **own_input(event, words.dialect)}
    sent |= {theirs: data[ours] for ours, theirs in words.frame if data.get(ours) is not None}
    if words.named_by:
        sent[words.named_by] = name
    data.setdefault("stop_hook_active", bool(data.get("continuations")))
    pairs = words.fields.get(event.kind.name) or tuple((key, key) for key in event.data)
    sent |= {theirs: data[ours] for ours, theirs in pairs if ours in data}
    sent |= words.native_fields(event.kind.name, data)
    return {**words.always.get(event.kind.name, {}), **sent}


def llm_output(response: Any) -> str:
    """The text of a result in Gemini's form."""
    return output_text(response.get("llmContent", "") if isinstance(response, dict) else response)


def llm_response(data: Mapping[str, Any]) -> Any:
    """A tool's result in Gemini's form, as the tool gave it unless a hook has changed the output since."""
    as_sent, output = data.get("tool_response"), data.get("tool_output")
    if isinstance(as_sent, dict) and (output is None or llm_output(as_sent) == output):
        return as_sent
    text = output_text(output)
    error = data.get("tool_error")
    failed = {"error": error.get("message", "")} if isinstance(error, dict) else {}
    return {"llmContent": text, "returnDisplay": text, **failed}


def error_text(data: Mapping[str, Any]) -> str:
    error = data.get("tool_error")
    message = error.get("message") if isinstance(error, Mapping) else error
    return output_text(data.get("error", "") if message is None else message)
