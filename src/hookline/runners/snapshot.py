"""What a hook agent knows, read from the snapshot that a dialect or another process wrote.

Two shapes are understood: memex's snapshot (``version``, ``params``, ``chat_seed``, ``contexts``), and any other
payload of an event, from which the same is read as far as it is there.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from hookline.core._dataclass import dataclass, empty, field

_VERSION = 1

#: Variable of a template -> field of an event's data, for payloads that are not snapshots.
_FROM_DATA = (
    ("hook_input_text", "prompt"), ("hook_last_display", "assistant_message"),
    ("hook_last_sanitized", "assistant_message"), ("hook_reason", "reason"),
)  # fmt: skip


class NotASnapshotError(ValueError):
    """What was given is not a snapshot; the text says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ChatTurn:
    role: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Snapshot:
    """``variables`` are what templates may name; ``facts`` is all other data of the event."""

    prompt: str = ""
    model: str = ""
    #: None: the agent's normal tools; empty: none.
    tools: tuple[str, ...] | None = None
    variables: Mapping[str, str] = field(default_factory=empty)
    chat: tuple[ChatTurn, ...] = ()
    contexts: Mapping[str, Any] = field(default_factory=empty)
    facts: Mapping[str, Any] = field(default_factory=empty)
    base_directory: str = ""


def decode(raw: bytes) -> Mapping[str, Any]:
    """One JSON object; raises ``NotASnapshotError`` for everything else."""
    try:
        payload = json.loads(raw.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        msg = f"the snapshot is not JSON: {error}" if raw.strip() else "the snapshot is empty"
        raise NotASnapshotError(msg) from None
    if not isinstance(payload, Mapping):
        msg = f"the snapshot must be an object, not a {type(payload).__name__}"
        raise NotASnapshotError(msg)
    return payload


def read_snapshot(payload: Mapping[str, Any]) -> Snapshot:
    if "params" not in payload and "chat_seed" not in payload:
        return _from_event(payload)
    version = payload.get("version", _VERSION)
    if version != _VERSION:
        msg = f"the snapshot has version {version!r}, but only {_VERSION} is supported"
        raise NotASnapshotError(msg)
    params = _mapping(payload.get("params"))
    return Snapshot(
        prompt=_text(params.get("prompt")),
        model=_text(params.get("model")),
        tools=_tools(params.get("active_tools_agent")),
        variables={str(key): _text(value) for key, value in params.items() if str(key).startswith("hook_")},
        chat=_chat(payload.get("chat_seed"), "message"),
        contexts=_mapping(payload.get("contexts")),
        base_directory=_text(params.get("base_directory")),
    )


def snapshot_payload(snapshot: Snapshot) -> dict[str, Any]:
    """The inverse, for an agent in another process: ``read_snapshot`` reads the same back, facts as context."""
    tools = snapshot.tools
    listed = {} if tools is None else {"active_tools_agent": ",".join(tools) or "None"}
    given = {"prompt": snapshot.prompt, "model": snapshot.model, "base_directory": snapshot.base_directory}
    facts = {"event": [{"id": 0, "data": dict(snapshot.facts)}]} if snapshot.facts else {}
    return {
        "version": _VERSION,
        "params": {**{key: text for key, text in given.items() if text}, **listed, **snapshot.variables},
        "chat_seed": [{"role": turn.role, "message": turn.text} for turn in snapshot.chat],
        "contexts": {**snapshot.contexts, **facts},
    }


def _from_event(payload: Mapping[str, Any]) -> Snapshot:
    data = _mapping(payload.get("data")) or payload
    variables = {variable: _text(data[name]) for variable, name in _FROM_DATA if name in data}
    apart = {"history", "contexts", "prompt", "assistant_message"}
    return Snapshot(
        variables={**variables, "hook_phase": _text(payload.get("event"))},
        chat=_chat(data.get("history"), "text"),
        contexts=_mapping(data.get("contexts")),
        facts={str(key): value for key, value in data.items() if key not in apart},
        base_directory=_text(payload.get("cwd")),
    )


def _tools(given: Any) -> tuple[str, ...] | None:
    if given in (None, ""):
        return None
    listed = given.split(",") if isinstance(given, str) else given if isinstance(given, Sequence) else ()
    names = tuple(name for one in listed if (name := str(one).strip()))
    return () if [name.lower() for name in names] in (["none"], ["__none__"]) else names


def _chat(given: Any, key: str) -> tuple[ChatTurn, ...]:
    if not isinstance(given, Sequence) or isinstance(given, (str, bytes)):
        return ()
    return tuple(
        ChatTurn(role=_text(turn.get("role")) or "user", text=_text(turn.get(key)))
        for turn in given
        if isinstance(turn, Mapping)
    )


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
