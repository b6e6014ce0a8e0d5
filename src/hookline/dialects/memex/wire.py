"""The wire face: the snapshot that a hook agent gets, and the ``{"last_text", "error"}`` that it gives back."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import AgentRun, HookSpec
from hookline.core.result import Context, Decision, HookError, Reply, RunResult
from hookline.dialects.base import Answer, Call, Incoming
from hookline.dialects.memex.prompts import PHASES, Phase

_VERSION = 1
_SENTINEL = "%%DONE%%"

#: An external agent must not run hooks again, and neither must anything it starts.
_NO_HOOKS: Mapping[str, str] = MappingProxyType({"HOOKLINE_NO_HOOKS": "1"})


# ── to the hook ──────────────────────────────────────────────────────────────────────────────────────


def event_out(spec: HookSpec, event: Event) -> Call:
    """The same snapshot for both runners: one reads it from stdin, the other finds it there."""
    action = spec.action
    if not isinstance(action, AgentRun):
        return Call(stdin=_encode(dict(event.data)), environ=spec.environ)
    stdin = _encode(_snapshot(spec, action, event))
    if action.runner == "internal":
        return Call(stdin=stdin, environ=spec.environ)
    return Call(argv=action.command, stdin=stdin, environ={**spec.environ, **_NO_HOOKS})


def _snapshot(spec: HookSpec, action: AgentRun, event: Event) -> dict[str, Any]:
    """As in memex, it does not contain the steps: they are on the command line."""
    phase = _phase(spec)
    given = {
        "base_directory": event.cwd,
        "model": action.model,
        "prompt": action.prompt,
        "active_tools_agent": None if action.tools is None else ",".join(action.tools),
        "hook_name": spec.name,
        "hook_phase": phase.name,
    }
    extras = {f"hook_{key}": _text(event.data.get(field, missing)) for key, field, missing in phase.extras}
    snapshot: dict[str, Any] = {
        "version": _VERSION,
        "params": {**{key: value for key, value in given.items() if value not in ("", None)}, **extras},
        "chat_seed": _chat(phase, event),
        "contexts": _contexts(event.data.get("contexts")),
    }
    if action.tools == ():
        snapshot["params"]["active_tools_agent"] = "None"
    trace = {"trace_id": event.id, "parent_span_id": spec.id if event.id else "", "outer_session_uid": event.session}
    if kept := {key: value for key, value in trace.items() if value}:
        snapshot["trace"] = kept
    return snapshot


def _phase(spec: HookSpec) -> Phase:
    """A hook of another event (converted from another dialect) gets what the event has, under its own name."""
    return PHASES.get(spec.native_event) or Phase(name=spec.native_event or spec.event, event=spec.event)


def _chat(phase: Phase, event: Event) -> list[dict[str, Any]]:
    """The whole history, oldest first, ending with the turns that the phase comes after."""
    history = event.data.get("history")
    turns = [_turn(turn) for turn in _list(history) if isinstance(turn, Mapping)]
    for role, field in phase.recorded:
        text = event.data.get(field)
        if (
            isinstance(text, str)
            and text
            and not any((turn["role"], turn["message"]) == (role, text) for turn in turns[-4:])
        ):
            turns.append({"timestamp": _timestamp(event.time), "role": role, "message": text})
    return turns


def _turn(turn: Mapping[str, Any]) -> dict[str, Any]:
    fields = {
        "timestamp": _timestamp(turn.get("time", turn.get("timestamp"))),
        "role": str(turn.get("role", "user")),
        "message": _text(turn.get("text", turn.get("message"))),
    }
    meta = turn.get("meta")
    scalars = {str(key): value for key, value in meta.items() if _is_scalar(value)} if isinstance(meta, Mapping) else {}
    return {**fields, "meta": scalars} if scalars else fields


def _contexts(given: Any) -> dict[str, list[dict[str, Any]]]:
    """``{kind: [{id, data}]}``, without the conversation and the prompt, which have places of their own."""
    if _is_list(given):
        given = {"context": given}
    if not isinstance(given, Mapping):
        return {}
    kinds = {str(kind): items for kind, items in given.items() if kind not in {"chat", "prompt"} and _is_list(items)}
    return {
        kind: [item if _is_entry(item) else {"id": place, "data": item} for place, item in enumerate(items)]
        for kind, items in kinds.items()
    }


def _encode(value: Mapping[str, Any]) -> bytes:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"), default=str).encode(errors="replace")


def _text(value: Any) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)


def _timestamp(value: Any) -> Any:
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        try:
            return datetime.fromtimestamp(value, UTC).isoformat()
        except (ValueError, OverflowError, OSError):
            return value
    return value


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, (str, bytes))


def _list(value: Any) -> Sequence[Any]:
    return value if _is_list(value) else ()


def _is_scalar(value: Any) -> bool:
    return value is None or isinstance(value, (str, int, float, bool))


def _is_entry(item: Any) -> bool:
    return isinstance(item, Mapping) and "data" in item


# ── from the hook ────────────────────────────────────────────────────────────────────────────────────


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """A text is context, an error is a failure: a provider's message never reaches the conversation."""
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if raw.exit_code:
        return HookError(error=raw.stderr.strip() or f"external_agent_exit_{raw.exit_code}")
    if raw.signal:
        return HookError(error=f"external_agent_signal_{raw.signal}")
    answer = _answer(raw)
    if isinstance(answer, HookError):
        return answer
    text, error = answer.get("last_text"), answer.get("error")
    if not text:
        return HookError(error=_text(error)) if error else Reply()
    return _reply(spec, text if isinstance(text, str) else _text(text))


def _answer(raw: RunResult) -> Mapping[str, Any] | HookError:
    if isinstance(raw.value, Mapping):
        return raw.value
    if not raw.stdout.strip():
        return HookError(error='empty_stdout: the agent printed nothing; it must print {"last_text": …, "error": …}')
    try:
        answer = json.loads(raw.stdout)
    except (ValueError, RecursionError) as error:
        return HookError(error=f"invalid_json: the agent's output is not one JSON object: {error}")
    if not isinstance(answer, Mapping):
        return HookError(error=f"unexpected_payload: the agent printed a {type(answer).__name__}, not an object")
    return answer


def _reply(spec: HookSpec, text: str) -> Reply:
    clean = text.replace(_SENTINEL, "")
    placement = spec.output.inject
    if not clean or placement == "none":
        return Reply()
    return Reply(context=(Context(text=spec.output.prefix + clean, placement=placement, label=spec.output.label),))


# ── from and to a host of memex ─────── ─────────────────────────────────────────────────────────────


#: The parts of a snapshot that are read field by field.
_SNAPSHOT = frozenset({"params", "chat_seed", "contexts", "trace"})


def event_in(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """A snapshot, as an outer memex sends it, in canonical words."""
    params = payload.get("params")
    params = params if isinstance(params, Mapping) else {}
    native = name or str(params.get("hook_phase", ""))
    phase = PHASES.get(native)
    data: dict[str, Any] = {
        field: params[f"hook_{key}"]
        for key, field, _missing in (phase.extras if phase else ())
        if f"hook_{key}" in params
    }
    seed = payload.get("chat_seed")
    if _is_list(seed):
        turns = [turn for turn in _list(seed) if isinstance(turn, Mapping)]
        data["history"] = [
            {
                "role": turn.get("role"),
                "text": turn.get("message"),
                "time": turn.get("timestamp"),
                **({"meta": turn["meta"]} if "meta" in turn else {}),
            }
            for turn in turns
        ]
        typed = [turn for turn in turns if turn.get("role") == "user" and turn.get("message")]
        data["turn"] = len(typed)
        if phase and phase.event == "Stop" and typed:
            data.setdefault("user_message", typed[-1].get("message"))
    if isinstance(payload.get("contexts"), Mapping):
        data["contexts"] = payload["contexts"]
    for key, value in payload.items():  # what we do not know is carried
        if key not in _SNAPSHOT:
            data.setdefault(key, value)
    trace = payload.get("trace")
    session = str(trace.get("outer_session_uid", "")) if isinstance(trace, Mapping) else ""
    event = phase.event if phase else f"memex:{native}"
    return Incoming(
        event=event, data=data, session=session, cwd=str(params.get("base_directory", "")), native_name=native
    )


def reply_out(event: Event, decision: Decision) -> Answer:
    """Everything that was injected, as one text; memex has no refusal, so that is an error."""
    texts = [injected.context.text for injected in decision.context if injected.context.placement != "comment"]
    error = "" if decision.allowed else decision.reason or "denied by a hook"
    if decision.aborted:
        error = decision.aborted.message
    lost = ["a changed field of the data"] if decision.modified else []
    lost += [] if decision.allowed else ["a refusal"]
    answer = {"last_text": "\n".join(texts) or None, "error": error or None}
    return Answer(stdout=json.dumps(answer, ensure_ascii=False) + "\n", lost=tuple(lost))
