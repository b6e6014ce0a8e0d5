"""Lectic as the agent that calls us: what it sends, and how it is answered."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.event import Event
from hookline.core.result import Context, Decision
from hookline.dialects.base import Answer, Incoming
from hookline.dialects.lectic.events import BASE_EVENTS, CANONICAL, IMPLIED, NATIVE
from hookline.dialects.lectic.variables import FIELDS, TOKENS, whole
from hookline.dialects.lectic.wire import with_headers

# ── in ───────────────────────────────────────────────────────────────────────────────────────────────


def event_in(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:  # (protocol)
    """Lectic's variables become canonical fields; canonical and unknown fields pass as they are."""
    data: dict[str, Any] = {}
    tokens: dict[str, Any] = {}
    for key, value in payload.items():
        if key in TOKENS:
            tokens[TOKENS[key]] = whole(value) if isinstance(value, str) else value
        elif key in FIELDS:
            field, read = FIELDS[key]
            data.setdefault(field, read(value) if isinstance(value, str) else value)
        else:
            data[key] = value
    if tokens:
        data.setdefault("tokens", tokens)
    data = {**IMPLIED.get(name, {}), **data}
    cwd = data.get("cwd")
    return Incoming(event=_event(name, data), data=data, cwd=cwd if isinstance(cwd, str) else "", native_name=name)


def _event(name: str, data: Mapping[str, Any]) -> str:
    """An event is what its row says; ``tool_use_post`` of a failed or refused call is the failure."""
    row = NATIVE.get(name)
    if row is None:
        return name if name in BASE_EVENTS else f"lectic:{name}"
    if row.name == "tool_use_post" and data.get("tool_error") is not None:
        return row.canonical[1]
    return CANONICAL[name]


# ── out ──────────────────────────────────────────────────────────────────────────────────────────────


def reply_out(event: Event, decision: Decision) -> Answer:
    """Inline text and exit 0; or exit 1 with the reason, also for what Lectic cannot carry out (law 11)."""
    inline = [given.context for given in decision.context if given.context.placement != "session"]
    lost = _lost(event, decision)
    stdout = _inline(inline)
    if decision.aborted is not None:
        return Answer(stdout=stdout, stderr=_line(decision.aborted.message), exit_code=1, lost=lost)
    if decision.effect != "allow":
        return Answer(stdout=stdout, stderr=_line(decision.reason or "refused by a hook"), exit_code=1, lost=lost)
    if decision.modified:
        finding = "a hook changed the event's data, which Lectic does not support"
        return Answer(stdout=stdout, stderr=_line(finding), exit_code=1, lost=lost)
    return Answer(stdout=stdout, lost=lost)


def _lost(event: Event, decision: Decision) -> tuple[str, ...]:
    lost: list[str] = []
    if decision.modified:
        lost.append("changed data: Lectic's hooks cannot rewrite an event")
    if decision.effect == "ask":
        lost.append("ask: Lectic can only allow or refuse")
    if decision.context and event.kind.name not in ("UserPromptSubmit", "AssistantMessage"):
        lost.append(f"context: Lectic takes none on {BASE_EVENTS.get(event.kind.name, event.kind.name)}")
    if any(given.context.placement == "session" for given in decision.context):
        lost.append("context kept with the session")
    if decision.messages:
        lost.append("messages for the person")
    return tuple(lost)


def _inline(contexts: list[Context]) -> str:
    """All texts under one set of headers, as one hook would print them."""
    headers = {key: value for context in contexts for key, value in context.attributes.items()}
    # One text that wants to be answered keeps the turn alive, so all must set final (as in Lectic).
    if not all("final" in context.attributes for context in contexts):
        headers.pop("final", None)
    clean = {key: value.replace("\n", " ") for key, value in headers.items()}
    return with_headers(clean, "\n".join(context.text for context in contexts)) if contexts else ""


def _line(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"
