"""The payload of one agent as a table of names, read in both directions: what it sends us, what its hooks read."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.agents import find_agent, uses_dialect
from hookline.core.event import Event
from hookline.core.tool_names import tool_fields
from hookline.dialects.base import Incoming
from hookline.dialects.claude_family.payload import FieldNames, as_text, field_names, output_text, own_input

__all__ = [
    "FieldMap", "error_text", "event_in", "event_table", "field_map", "field_names", "llm_output", "llm_response", "payload",
    "pick", "put",
]  # fmt: skip


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
    #: Where a payload names its event, the first of several (``one|another``); "" where it does not.
    named_by: str = "hook_event_name"
    #: The name of an MCP server's tool, with the groups ``server`` and ``tool``, where it is not ``mcp__server__tool``.
    mcp: str = ""
    #: What stands in the place of a session's first source.
    sources: Mapping[str, str] = field(default_factory=empty)
    #: Variables that know the session and the directory when the payload does not.
    session_variable: str = ""
    cwd_variable: str = ""
    #: ``canonical_fields(event, sent)``: further fields of ours that follow from what was sent.
    canonical_fields: Callable[[str, Mapping[str, Any]], dict[str, Any]] = field(default=_nothing)
    #: ``call(native, sent)``: tool_name and tool_input, where the name of the event says which tool it is about.
    call: Callable[[str, Mapping[str, Any]], dict[str, Any]] = field(default=_nothing)
    #: ``call_fields(native, data)``: the other way round.
    call_fields: Callable[[str, Mapping[str, Any]], dict[str, Any]] = field(default=_nothing)
    #: ``native_fields(event, data)``: fields of its own that follow from ours.
    native_fields: Callable[[str, Mapping[str, Any]], dict[str, Any]] = field(default=_nothing)
    #: Canonical event -> fields it always sends, with what they are when nobody knows better.
    always: Mapping[str, Mapping[str, Any]] = field(default_factory=empty)


def event_table(dialect: str, text: str) -> Mapping[str, str]:
    """Native -> canonical event, from ``canonical:native`` pairs; one word where both are the same, and ``-:native``
    for an event that is the agent's own."""
    pairs = (word.partition(":") for word in text.split())
    return MappingProxyType(
        {theirs or ours: ours if ours != "-" else f"{dialect}:{theirs}" for ours, _, theirs in pairs}
    )


def field_map(
    dialect: str, events: Mapping[str, str], fields: Mapping[str, str], *, frame: str = "session_id transcript_path cwd",
    **more: Any,
) -> FieldMap:  # fmt: skip
    """The same table with its names in texts (``field_names``)."""
    named = {event: field_names(text) for event, text in fields.items()}
    return FieldMap(dialect=dialect, events=events, fields=named, frame=field_names(frame), **more)


def pick(sent: Mapping[str, Any], path: str) -> Any:
    """The value at ``outer.inner``, at ``list.0``, or at the first of ``one|another`` that is there; None elsewhere."""
    ways = path.split("|")
    for way in ways:
        value: Any = sent
        for step in way.split("."):
            if isinstance(value, list) and step.isdigit():
                value = value[int(step)] if int(step) < len(value) else None
            else:
                value = value.get(step) if isinstance(value, Mapping) else None
        if value is not None and (value != "" or way == ways[-1]):
            return value
    return None


def put(sent: dict[str, Any], path: str, value: Any) -> None:
    """The inverse; of several ways the first is taken. What stands on the way is copied, since the agent sent it."""
    step, _, rest = path.partition("|")[0].partition(".")
    if not rest:
        sent[step] = value
    elif rest.isdigit():
        sent[step] = [value]
    else:
        inner = dict(sent[step]) if isinstance(sent.get(step), Mapping) else {}
        put(inner, rest, value)
        sent[step] = inner


# ── in ───────────────────────────────────────────────────────────────────────────────────────────────


def event_in(words: FieldMap, name: str, sent: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """Every field survives; those that have a name of ours are found under it as well."""
    named_by = words.named_by.split("|")
    sent = _usual_keys(words, sent)
    native = next((found for key in named_by if (found := as_text(sent.get(key)))), name)
    if native not in words.events:
        native = _usual_event(words, native, name)
    event = words.events.get(native, f"{words.dialect}:{native}")
    data = {key: value for key, value in sent.items() if key not in named_by}
    for ours, theirs in (*words.frame, *words.fields.get(event, ())):
        if ours != theirs:
            found = sent[theirs] if theirs in sent else pick(sent, theirs)
            if found is not None or theirs in sent:
                data[ours] = found
    source = as_text(data.get("source"))
    if event == "SessionStart" and source in words.sources:
        data |= {"source": words.sources[source], "native_source": source}
    data |= words.call(native, sent)
    if isinstance(data.get("tool_name"), str):
        cwd = as_text(data.get("cwd")) or environ.get(words.cwd_variable, "")
        data |= tool_fields(data["tool_name"], data.get("tool_input"), cwd, _server_tool(words.mcp, data["tool_name"]))
    if any(ours == "stop_hook_active" for ours, _theirs in words.fields.get(event, ())):
        data["continuations"] = int(bool(data.get("stop_hook_active")))
    data |= words.canonical_fields(event, sent)
    return Incoming(
        event=str(data.pop("carried_as", event)),
        data=data,
        session=str(data.get("session_id") or environ.get(words.session_variable, "")),
        cwd=str(data.get("cwd") or environ.get(words.cwd_variable, "")),
        native_name=native,
    )


def _spelled(name: str) -> str:
    return name.replace("_", "").replace("-", "").lower()


#: Dialect -> its names for fields, each by what it is without its spelling; they are computed once.
_SPELLINGS: dict[str, Mapping[str, str]] = {}


def _spellings(words: FieldMap) -> Mapping[str, str]:
    found = _SPELLINGS.get(words.dialect)
    if found is None:
        pairs = [*words.frame, *(pair for pairs in words.fields.values() for pair in pairs)]
        names = [way.partition(".")[0] for _ours, theirs in pairs for way in theirs.split("|")]
        found = {_spelled(name): name for name in reversed([*words.named_by.split("|"), *names]) if name}
        _SPELLINGS[words.dialect] = found
    return found


def _usual_keys(words: FieldMap, sent: Mapping[str, Any]) -> Mapping[str, Any]:
    """What was sent with ``toolName`` for ``tool_name``, or the other way round, has the usual name too: releases differ."""
    spelled = _spellings(words)
    more = {
        usual: value
        for key, value in sent.items()
        if (usual := spelled.get(_spelled(key))) is not None and usual not in sent
    }
    return {**sent, **more} if more else sent


def _usual_event(words: FieldMap, native: str, given: str) -> str:
    """An event under another spelling of its name, or the one that was registered; as it came if neither is known."""
    spelled = {_spelled(name): name for name in reversed(tuple(words.events))}
    # "PreToolUse.Bash" and "plugin.beforeTool" are names of recordings.
    ways = (native, given, native.removeprefix("plugin.").partition(".")[0])
    return next((found for one in ways if (found := spelled.get(_spelled(one)))), native)


def _server_tool(pattern: str, native: str) -> str:
    """The common name of an MCP server's tool; "" where it is none."""
    if not pattern or native.startswith("mcp__"):
        return ""
    import re  # noqa: PLC0415  few agents have such a pattern

    found = re.fullmatch(pattern, native)
    if found is None:
        return ""
    named = found.groupdict()
    return f"mcp__{named.get('server') or 'unknown'}__{named['tool']}"


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


def payload(words: FieldMap, name: str, event: Event) -> dict[str, Any]:
    """The event in this agent's format; its own payload is passed on whole, with what hooks changed in it."""
    own = uses_dialect(event.agent, words.dialect)
    sent: dict[str, Any] = dict(event.native) if own else {}
    data = {**event.data, "session_id": event.session or event.data.get("session_id", ""), "cwd": event.cwd}
    native_tool = data.get("native_tool_name")
    if own and native_tool:
        data |= {"tool_name": native_tool, **own_input(event, words.dialect)}
    elif isinstance(data.get("tool_name"), str) and (agent := find_agent(words.dialect)) is not None:
        data["tool_name"] = agent.tool_name(data["tool_name"])  # as its author knows it
    # Of its own payload only what a hook has changed is written anew.
    known = event_in(words, name, event.native, event.environ).data if own and event.native else {}
    for ours, theirs in words.frame:
        if data.get(ours) is not None and data[ours] != known.get(ours):
            put(sent, theirs, data[ours])
    if words.named_by:
        sent[words.named_by.partition("|")[0]] = name
    data.setdefault("stop_hook_active", bool(data.get("continuations")))
    pairs = words.fields.get(event.kind.name) or tuple((key, key) for key in event.data)
    for ours, theirs in pairs:
        if ours in data and (ours not in known or data[ours] != known[ours]):
            put(sent, theirs, data[ours])
    sent |= words.native_fields(event.kind.name, data)
    return {**words.always.get(event.kind.name, {}), **words.call_fields(name, data), **sent}


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
