"""The wire face: the envelope, and the answers allow, deny and modify.

Only the word ``deny`` denies: a program that exits with an error has failed, which is something else.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from functools import lru_cache
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import EMPTY
from hookline.core.event import EVENTS, Event
from hookline.core.hook import Command, HookSpec
from hookline.core.result import NO_OPINION, Decision, HookError, Reply, RunResult
from hookline.dialects.base import Answer, Call, Incoming

#: Fields of the envelope, which are not part of the event's data.
_ENVELOPE = frozenset({"type", "id", "event", "timestamp", "session_id", "role", "mode", "data"})

_DENIED = "denied by hook"

#: Instructions to the line editor that a deny may add to its reason, and session settings of every answer.
_OUTWARD = ("mode", "prefill", "edit")


# ── a hook is called ─────────────────────────────────────────────────────────────────────────────────


def event_out(spec: HookSpec, event: Event) -> Call:
    """One JSON line on stdin; a plugin gets the same object with ``type`` and ``id`` from its runner."""
    data = event.data if isinstance(event.data, dict) else dict(event.data)
    head = _head(event.kind.name, int(event.time), event.session, event.role, event.mode)
    stdin = _line(data, head, "}")
    if not isinstance(spec.action, Command):
        return Call(stdin=stdin)
    return Call(
        argv=spec.action.argv,
        stdin=stdin,
        environ={"LASH_HOOK_EVENT": event.kind.name, "LASH_SESSION_ID": event.session},
    )


@lru_cache(maxsize=64)
def _head(name: str, seconds: int, session: str, role: str, mode: str) -> str:
    """The envelope up to its data: within one second most events of a session share it."""
    year, month, day, hour, minute, second = time.gmtime(seconds)[:6]
    envelope = {
        "event": name,
        "timestamp": f"{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z",
        "session_id": session,
        "role": role,
    }
    if mode:
        envelope["mode"] = mode
    return json.dumps(envelope, ensure_ascii=False, separators=(",", ":"))[:-1] + ',"data":'


def _plain(value: object) -> Any:
    """Frozen mappings as objects, sets and tuples as lists, anything else by its text."""
    if isinstance(value, MappingProxyType):
        return dict(value)
    if isinstance(value, set | frozenset):
        return sorted(value, key=str)
    return str(value)


#: Made once: setting an encoder up costs as much as using it.
_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"), default=_plain)


def _line(value: Mapping[str, Any], head: str = "", tail: str = "") -> bytes:
    try:
        return f"{head}{_ENCODER.encode(value)}{tail}\n".encode()
    except UnicodeEncodeError:  # a lone surrogate, from a file name that is not UTF-8
        whole = json.loads(f"{head}{_ENCODER.encode(value)}{tail}")
        return json.dumps(whole, separators=(",", ":")).encode() + b"\n"


# ── a hook has answered ──────────────────────────────────────────────────────────────────────────────


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """What the answer means. An observer's is not even read."""
    if raw.signal is not None:
        return HookError(error=f"signal {raw.signal}")
    if raw.exit_code:
        return HookError(error=f"exit {raw.exit_code}")
    if spec.mode in {"background", "detached"}:
        return Reply()
    answer = raw.value if isinstance(raw.value, dict) else _parsed(raw.stdout)
    return answer if isinstance(answer, Reply | HookError) else _meaning(spec, answer)


def _parsed(text: str) -> dict[str, Any] | Reply | HookError:
    text = text.strip()
    if not text:
        return Reply()
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return HookError(error="the answer is not JSON")
    return value if isinstance(value, dict) else HookError(error="the answer is not a JSON object")


def _meaning(spec: HookSpec, answer: Mapping[str, Any]) -> Reply | HookError:
    data = answer.get("data")
    if data is None:
        data = EMPTY
    if not hasattr(data, "items"):
        return HookError(error="the answer's data is not an object")
    mode = data.get("mode")
    attributes = {"mode": mode} if isinstance(mode, str) else {}
    action = answer.get("action")
    if action == "allow":
        return Reply(attributes=attributes) if attributes else NO_OPINION
    rest = {name: value for name, value in data.items() if name != "mode"}
    if action == "modify":
        if "data" not in answer:
            return HookError(error="modify without data")
        return Reply(data=rest, attributes=attributes)
    if action == "deny":
        reason = answer.get("reason")
        text = reason if isinstance(reason, str) and reason else _DENIED
        return Reply(effect="deny", reason=text, attributes={**rest, **attributes})
    return HookError(error=f"action must be one of allow, deny, modify; got {action!r}")


# ── a frontend of lash calls us ─── ──────────────────────────────────────────────────────────────────


def event_in(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """An envelope; one without ``data`` is the data itself."""
    native = name or str(payload.get("event", ""))
    data = payload.get("data")
    if not isinstance(data, dict):
        data = {field: value for field, value in payload.items() if field not in _ENVELOPE}
    session = payload.get("session_id")
    return Incoming(
        event=native if native in EVENTS else f"lash:{native}",
        data=data,
        session=session if isinstance(session, str) else environ.get("LASH_SESSION_ID", ""),
        native_name=native,
    )


def reply_out(event: Event, decision: Decision) -> Answer:
    """Only what changed is sent back. An ask becomes a deny that says so: lash cannot ask anyone."""
    lost: list[str] = []
    outward = {name: decision.attributes[name] for name in _OUTWARD if name in decision.attributes}
    answer: dict[str, Any] = {"type": "hook_result", "id": event.native["id"]} if "id" in event.native else {}
    if decision.aborted is not None or decision.effect != "allow":
        answer |= {"action": "deny", "reason": _refusal(decision, lost)}
    else:
        changed = {name: value for name, value in decision.data.items() if _differs(event.data, name, value)}
        gone = [name for name in event.data if name not in decision.data]
        lost.extend(f"lash cannot take the field {name} out of the data" for name in gone)
        answer["action"] = "modify" if changed else "allow"
        outward = {**changed, **outward}
    if outward:
        answer["data"] = outward
    lost.extend(f"lash has no place for the context of {each.hook}" for each in decision.context)
    lost.extend(f"lash has no place for the message of {each.hook}" for each in decision.messages)
    return Answer(stdout=_line(answer).decode(), lost=tuple(lost))


def _refusal(decision: Decision, lost: list[str]) -> str:
    if decision.aborted is not None:
        return decision.aborted.message or _DENIED
    if decision.effect == "ask":
        lost.append("lash cannot ask the person; the action was denied")
        return f"{decision.reason or 'a hook wants to ask'} (needs an answer, which lash cannot ask for)"
    return decision.reason or _DENIED


def _differs(data: Mapping[str, Any], name: str, value: object) -> bool:
    return name not in data or data[name] != value
