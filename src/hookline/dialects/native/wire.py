"""The native wire: one JSON object in, nothing or one JSON object out. Exit 2 denies, other failures are failures."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, get_args

from hookline.core._dataclass import EMPTY, replace
from hookline.core.event import Event
from hookline.core.hook import AgentRun, Command, Function, HookSpec, Http, Output, Plugin, Prompt
from hookline.core.result import NO_OPINION, Context, Decision, Effect, HookError, Placement, Reply, RunResult
from hookline.dialects.base import Answer, Call, Incoming

_EFFECTS = get_args(Effect)
_PLACEMENTS = get_args(Placement)


class _NotAnAnswerError(ValueError):
    """What came back is JSON, but says something that an answer cannot say."""


def _parse_reply(answer: Any, output: Output) -> Reply:
    """All fields are optional, unknown ones are left alone, and a known one of the wrong type spoils the answer."""
    if not isinstance(answer, dict):
        raise _NotAnAnswerError("the answer is JSON, but not an object")
    effect = answer.get("effect")
    if effect is not None and effect not in _EFFECTS:
        raise _NotAnAnswerError(f"effect must be one of {', '.join(_EFFECTS)}; got {str(effect)[:40]!r}")
    return Reply(
        effect=effect,
        reason=_reply_text(answer, "reason"),
        data=_table(answer, "data"),
        context=_contexts(answer.get("context"), output),
        messages=_messages(answer),
        attributes=_table(answer, "attributes"),
    )


def _reply_text(answer: Mapping[str, Any], key: str) -> str:
    value = answer.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise _NotAnAnswerError(f"{key} must be text")
    return value


def _table(answer: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = answer.get(key)
    if value is None:
        return EMPTY
    if not isinstance(value, dict) or not all(isinstance(name, str) for name in value):
        raise _NotAnAnswerError(f"{key} must be an object")
    return value


def _messages(answer: Mapping[str, Any]) -> tuple[str, ...]:
    """``message`` is one, ``messages`` is several; each is text, or an object with a text as ``fire`` prints it."""
    one = _reply_text(answer, "message")
    several = answer.get("messages") or []
    if not isinstance(several, list):
        raise _NotAnAnswerError("messages must be a list")
    texts = [item.get("text") if isinstance(item, dict) else item for item in several]
    if not all(isinstance(text, str) for text in texts):
        raise _NotAnAnswerError("messages must be strings")
    return tuple(text for text in (one, *texts) if text)


def _contexts(given: Any, output: Output) -> tuple[Context, ...]:
    if given is None or given == "":
        return ()
    items = given if isinstance(given, list) else [given]
    return tuple(_read_context(item, output) for item in items)


def _read_context(item: Any, output: Output) -> Context:
    """Context in an answer counts without ``inject`` too; label and prefix are the hook's own."""
    placement = "context" if output.inject == "none" else output.inject
    if isinstance(item, str):
        return Context(text=_add_prefix(item, output.prefix), placement=placement, label=output.label)
    if not isinstance(item, dict) or not isinstance(item.get("text"), str):
        raise _NotAnAnswerError('context must be text, a list of texts, or {"text", "label", "attributes", "as"}')
    chosen = item.get("as", placement)
    if chosen not in _PLACEMENTS:
        raise _NotAnAnswerError(f"placement must be one of {', '.join(_PLACEMENTS)}; got {str(chosen)[:40]!r}")
    return Context(
        text=_add_prefix(item["text"], output.prefix),
        placement=chosen,
        label=_reply_text(item, "label") or output.label,
        attributes=_attributes(item),
    )


def _add_prefix(text: str, prefix: str) -> str:
    return prefix + ("" if not prefix or prefix.endswith("\n") else "\n") + text


def _attributes(item: Mapping[str, Any]) -> Mapping[str, str]:
    """Attributes end up as text in a transcript, so scalars are written out here, once."""
    table = _table(item, "attributes")
    if not all(isinstance(value, (str, int, float)) for value in table.values()):
        raise _NotAnAnswerError("attributes of a context must be strings")
    return {
        key: ("true" if value else "false") if isinstance(value, bool) else str(value) for key, value in table.items()
    }


_DENIED = 2


# ── to a hook ────────────────────────────────────────────────────────────────────────────────────────


def event_out(spec: HookSpec, event: Event) -> Call:
    argv, script = _program(spec)
    own = {
        "HOOKLINE_EVENT": event.kind.name,
        "HOOKLINE_SESSION": event.session,
        "HOOKLINE_PROJECT": spec.extra.get("project") or event.cwd,
    }
    return Call(argv=argv, script=script, stdin=_payload_of(event), environ={**own, **spec.environ})


def _program(spec: HookSpec) -> tuple[tuple[str, ...], str | None]:
    match spec.action:
        case Command(form="shell", text=text):
            return ("/bin/sh", "-c", text), None
        case Command(form="script", text=text):
            return (), text
        case Command(argv=argv):
            return argv, None
        case AgentRun(command=argv):
            return argv, None
        case _:
            return (), None


def _payload_of(event: Event) -> bytes:
    data = event.data
    payload = {
        "event": event.kind.name,
        "data": data if type(data) is dict else dict(data),
        "session": event.session,
        "turn": event.turn,
        "agent": event.agent,
        "cwd": event.cwd,
        "time": _iso_time(event.time),
    }
    if event.mode:
        payload["mode"] = event.mode
    # Lone surrogates (file names that are not UTF-8) stay escaped, so that the bytes are always valid UTF-8.
    return _ENCODER.encode(payload).encode()


def _iso_time(seconds: float) -> str:
    """UTC, to the millisecond, for any number: a caller's clock may be nonsense."""
    # Imported here: a function hook never asks for it.
    from datetime import UTC, datetime

    try:
        moment = datetime.fromtimestamp(seconds, tz=UTC)
    except (OverflowError, ValueError, OSError):
        moment = datetime.fromtimestamp(0, tz=UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _as_json(value: Any) -> Any:
    """Read-only views and sets are data too; anything else becomes text."""
    if hasattr(value, "items"):
        return dict(value.items())
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=str)
    return str(value)


#: Made once: setting an encoder up costs as much as using it.
_ENCODER = json.JSONEncoder(default=_as_json)


# ── from a hook ──────────────────────────────────────────────────────────────────────────────────────


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """Exit 0: the answer counts. Exit 2: deny. Anything else is a failure, for ``on_failure`` to judge."""
    del event
    if raw.error:
        # It did not get to answer, and the runner knows why.
        return HookError(error=raw.error)
    match spec.action:
        case Function():
            return _from_value(spec, raw.value)
        case Prompt():
            return _from_prompt(raw)
        case AgentRun():
            return _from_agent(spec, raw)
        case Http():
            return _from_text(spec, raw.stdout)
        case Plugin():
            return _from_value(spec, raw.value) if raw.value is not None else _from_text(spec, raw.stdout)
        case Command():
            return _with_notes(_from_exit(spec, raw), raw)


def _from_exit(spec: HookSpec, raw: RunResult) -> Reply | HookError:
    if raw.exit_code == 0:
        return _from_text(spec, raw.stdout)
    if raw.exit_code == _DENIED:
        return _denied(spec, raw)
    if raw.signal is not None:
        return HookError(error=f"ended by signal {raw.signal}{_last_line(raw)}")
    return HookError(error=f"exit code {raw.exit_code}{_last_line(raw)}")


def _with_notes(verdict: Reply | HookError, raw: RunResult) -> Reply | HookError:
    """An answer that was cut off at the limit of output is no mistake of the hook: the error says what happened."""
    if raw.notes and isinstance(verdict, HookError):
        return HookError(error=f"{verdict.error} ({'; '.join(raw.notes)})")
    return verdict


def _denied(spec: HookSpec, raw: RunResult) -> Reply:
    """The deny stands whatever was printed; the rest of a readable answer is kept."""
    reason = raw.stderr.strip()
    answer = _from_text(spec, raw.stdout) if _like_json(raw.stdout) else None
    reply = answer if isinstance(answer, Reply) else NO_OPINION
    return Reply(
        effect="deny",
        data=NO_OPINION.data,
        reason=reason or reply.reason or f"denied by {spec.name}",
        context=reply.context,
        messages=reply.messages,
        attributes=reply.attributes,
    )


def _last_line(raw: RunResult) -> str:
    last = raw.stderr.strip().rpartition("\n")[2].strip()
    return f": {last[:500]}" if last else ""


def _like_json(text: str) -> bool:
    return text.removeprefix("\ufeff").lstrip()[:1] in {"{", "["}


def _from_text(spec: HookSpec, text: str) -> Reply | HookError:
    text = text.removeprefix("\ufeff")  # a byte order mark
    if "\0" in text:
        # An object in UTF-16, or no text at all: a refusal in it must not pass as plain text.
        return HookError(error="stdout is not text in UTF-8")
    if not _like_json(text):
        return _plain(spec, text)
    try:
        # NaN and Infinity are no JSON. A refusal must not be lost for them, nor may they reach the next hook.
        answer = json.loads(text, parse_constant=lambda _name: None)
    except (ValueError, RecursionError) as error:
        return HookError(error=f"stdout starts like JSON and is not: {error}")
    return _from_value(spec, answer)


def _plain(spec: HookSpec, text: str) -> Reply:
    output = spec.output
    body = text.strip()
    if output.inject == "none" or not body:
        return Reply()
    shown = Context(
        text=_add_prefix(body, output.prefix),
        placement=output.inject,
        label=output.label,
        attributes=dict(output.attributes) or EMPTY,
    )
    return Reply(context=(shown,))


def _from_value(spec: HookSpec, value: Any) -> Reply | HookError:
    if value is None:
        return NO_OPINION
    if isinstance(value, Reply):
        return value
    if isinstance(value, str):
        return _plain(spec, value)
    try:
        return _parse_reply(value, spec.output)
    except _NotAnAnswerError as error:
        return HookError(error=str(error))


def _from_prompt(raw: RunResult) -> Reply | HookError:
    """ok is no opinion: that a model has no objection must never grant a call."""
    try:
        answer = raw.value if isinstance(raw.value, dict) else json.loads(raw.stdout)
    except (ValueError, RecursionError) as error:
        return HookError(error=f"the model's answer is not JSON: {error}")
    ok = answer.get("ok") if isinstance(answer, dict) else None
    reason = answer.get("reason", "") if isinstance(answer, dict) else None
    if not isinstance(ok, bool) or not isinstance(reason, (str, type(None))):
        return HookError(error='the model\'s answer is not {"ok": true or false, "reason": text}')
    if ok:
        return Reply()
    return Reply(effect="deny", reason=(reason or "").strip() or "the model refused")


def _from_agent(spec: HookSpec, raw: RunResult) -> Reply | HookError:
    """An agent's last text is its output, or its answer if it is one. It may object, but like any model never grant."""
    if raw.exit_code not in {None, 0}:
        return _from_exit(spec, raw)
    value = raw.value if raw.value is not None else _json_or_text(raw.stdout)
    if isinstance(value, dict) and value and set(value) <= {"last_text", "error"}:
        if value.get("error"):
            return HookError(error=str(value["error"])[:500])
        value = _json_or_text(str(value.get("last_text") or ""))
    reply = _from_value(spec, value)
    return replace(reply, effect=None) if isinstance(reply, Reply) and reply.effect == "allow" else reply


def _json_or_text(text: str) -> Any:
    """An object where there is one: a text that only starts like JSON is a text, since models write those."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


# ── from and to an agent that speaks the native wire ─────────────────────────────────────────────────


def event_in(name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    """The object that ``event_out`` writes, read back; fields beside ``data`` that we do not know go into it."""
    del environ
    given = payload.get("data")
    envelope = {"event", "data", "session", "turn", "agent", "cwd", "time", "mode"}
    data: dict[str, Any] = dict(given) if isinstance(given, dict) else {}
    for key, value in payload.items():
        if key not in envelope:
            data.setdefault(key, value)
    for key in ("turn", "agent"):
        if key in payload:
            data.setdefault(key, payload[key])
    event = name or _text(payload, "event")
    return Incoming(
        event=event,
        data=data,
        session=_text(payload, "session") or _text(data, "session_id"),
        cwd=_text(payload, "cwd") or _text(data, "cwd"),
        native_name=event,
    )


def _text(mapping: Mapping[str, Any], key: str) -> str:
    value = mapping.get(key, "")
    return value if isinstance(value, str) else ""


def reply_out(event: Event, decision: Decision) -> Answer:
    """JSON on stdout, and a deny also as exit 2 with its reason on stderr: either way of reading it works."""
    denied = decision.effect == "deny" or decision.aborted is not None
    reason = decision.reason or (decision.aborted.message if decision.aborted else "")
    answer: dict[str, Any] = {
        "effect": "deny" if denied else decision.effect if decision.granted or decision.effect == "ask" else None,
        "reason": reason or None,
        "data": _changed(event, decision) if decision.modified else None,
        "context": [_context(injected.hook, injected.context) for injected in decision.context] or None,
        "messages": [{"hook": message.hook, "text": message.text} for message in decision.messages] or None,
        "attributes": dict(decision.attributes) or None,
    }
    fields = {key: value for key, value in answer.items() if value is not None}
    stdout = json.dumps(fields, default=_as_json) + "\n" if fields else ""
    if denied:
        return Answer(stdout=stdout, stderr=(reason or "denied") + "\n", exit_code=_DENIED)
    return Answer(stdout=stdout)


def _changed(event: Event, decision: Decision) -> dict[str, Any]:
    return {key: value for key, value in decision.data.items() if key not in event.data or event.data[key] != value}


def _context(hook: str, context: Context) -> dict[str, Any]:
    return {
        "hook": hook, "text": context.text, "as": context.placement,
        "label": context.label, "attributes": dict(context.attributes),
    }  # fmt: skip
