"""The native wire: one JSON object in, nothing or one JSON object out. Exit 2 denies, other failures are failures."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.core._dataclass import EMPTY, replace
from hookline.core.event import Event, iso_time
from hookline.core.fast_json import loads, reader, writer
from hookline.core.hook import AgentRun, Command, Function, HookSpec, Http, Output, Plugin, Prompt
from hookline.core.lazy_pattern import lazy_pattern
from hookline.core.result import NO_OPINION, Context, Effect, HookError, Placement, Reply, RunResult
from hookline.core.typed import Any, get_args
from hookline.dialects.base import Call, Dialect
from hookline.dialects.claude_family.payload import payload as claude_payload

_EFFECTS = get_args(Effect)
_PLACEMENTS = get_args(Placement)


#: What an answer may say in our words, and in Claude Code's; a reason alone says nothing.
_OWN_FIELDS = frozenset({"effect", "data", "context", "message", "messages", "attributes"})
_CLAUDE_FIELDS = frozenset(
    {
        "decision", "hookSpecificOutput", "continue", "stopReason", "suppressOutput", "systemMessage",
        "additionalContext", "terminalSequence",
    }
)  # fmt: skip
_KINDS = {dict: "an object", bool: "true or false", str: "text"}
_TOOL_EVENTS = frozenset({"PreToolUse", "PermissionRequest"})
#: The beginning of an object that decides, at the start of a line.
_DECIDES = lazy_pattern(
    r"""(?m)^\s*\{\s*(?:"[^"\n]*"\s*:\s*(?:"(?:[^"\\\n]|\\.)*"|[\w.+-]+)\s*,\s*)*"""
    r""""(?:effect|decision|hookSpecificOutput|permissionDecision|continue)"\s*:""",
)


#: A refusal in one word, which is no answer in any format.
_REFUSAL = lazy_pattern(
    r"""(?is)\s*["']?(?:(?:deny|denied|block|blocked|ask)["']?\s*|(?:denied|blocked|refused):.*)""",
)


class _NotAnAnswerError(ValueError):
    """What came back is JSON, but says something that an answer cannot say."""


def _parse_reply(answer: Any, output: Output, event: Event) -> Reply:
    """In our words, in Claude Code's, or in both; a known field of the wrong type spoils the answer.

    So does an answer in nothing but unknown words: a guard that misspells its refusal has not agreed.
    """
    if not isinstance(answer, dict):
        raise _NotAnAnswerError("the answer is JSON, but not an object")
    if answer and answer.keys().isdisjoint(_OWN_FIELDS | _CLAUDE_FIELDS) and answer.keys() != {"reason"}:
        found = ", ".join(sorted(str(key)[:40] for key in answer)[:5])
        raise _NotAnAnswerError(f"the answer has no known field, only {found}; write effect, context or message")
    own = _own_reply(answer, output)
    return own if answer.keys().isdisjoint(_CLAUDE_FIELDS) else _with_claude(own, answer, event)


def _with_claude(own: Reply, answer: Mapping[str, Any], event: Event) -> Reply:
    """The stricter of what was said in both formats."""
    from hookline.dialects.claude_family.reply_reader import read_answer  # most hooks of ours do not use its words

    for key, kind in (("hookSpecificOutput", dict), ("continue", bool), ("decision", str)):
        if not isinstance(answer.get(key), (kind, type(None))):
            raise _NotAnAnswerError(f"{key} must be {_KINDS[kind]}; got {str(answer[key])[:40]!r}")
    if event.kind.name == "PreToolUse" and "decision" in (answer.get("hookSpecificOutput") or ()):
        raise _NotAnAnswerError("hookSpecificOutput has a decision; before a tool call, write permissionDecision")
    other = read_answer(event, answer)
    if isinstance(other, HookError):
        raise _NotAnAnswerError(other.error)
    if other.attributes and event.kind.name in _TOOL_EVENTS and other == Reply(attributes=other.attributes):
        unknown = ", ".join(sorted(other.attributes)[:5])
        raise _NotAnAnswerError(f"hookSpecificOutput has no known field, only {unknown}; write permissionDecision")
    stricter = max((own.effect, other.effect), key=lambda effect: -1 if effect is None else _EFFECTS.index(effect))
    return Reply(
        effect=stricter,
        reason=other.reason or own.reason,
        data={**own.data, **other.data},
        context=(*own.context, *other.context),
        messages=(*own.messages, *other.messages),
        attributes={**own.attributes, **other.attributes},
    )


def _own_reply(answer: Mapping[str, Any], output: Output) -> Reply:
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


DENIED = 2


# ── to a hook ────────────────────────────────────────────────────────────────────────────────────────


def event_out(spec: HookSpec, event: Event) -> Call:
    argv, script = _program(spec)
    project = spec.extra.get("project") or event.cwd
    own = {
        "HOOKLINE_EVENT": event.kind.name,
        "HOOKLINE_SESSION": event.session,
        "HOOKLINE_PROJECT": project,
        "CLAUDE_PROJECT_DIR": event.environ.get("CLAUDE_PROJECT_DIR") or project,
    }
    if "wire" in spec.extra:
        dialect, theirs = _wire(spec)
        call = dialect.event_out(theirs, event)
        environ = {**own, **call.environ, **spec.environ}
        if isinstance(spec.action, Command) and spec.action.form == "shell":  # its shell is part of the format
            return replace(call, environ=environ)
        return replace(call, argv=argv, script=script, fallbacks=(), environ=environ)
    return Call(argv=argv, script=script, stdin=_payload_of(event), environ={**own, **spec.environ})


def _wire(spec: HookSpec) -> tuple[Dialect, HookSpec]:
    """The dialect that ``dialect = "…"`` names, and the hook under that dialect's name of the event."""
    from hookline.dialects import dialect_named  # few hooks fix a format

    dialect = dialect_named(spec.extra["wire"])
    native = next((native for native, ours in dialect.events.items() if ours == spec.event), spec.event)
    return dialect, replace(spec, native_event=native)


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
    """Our fields, and beside them those that a script written for Claude Code reads."""
    data = event.data
    payload = {} if event.kind.family == "shell" else claude_payload(event.kind.name, event)
    payload |= {
        "event": event.kind.name,
        "data": data if type(data) is dict else dict(data),
        "session": event.session,
        "turn": event.turn,
        "agent": event.agent,
        "cwd": event.cwd,
        "time": iso_time(event.time),
    }
    if event.mode:
        payload["mode"] = event.mode
    # Lone surrogates (file names that are not UTF-8) stay escaped, so that the bytes are always valid UTF-8.
    return _in_json(payload).encode()


def as_json(value: Any) -> Any:
    """Read-only views and sets are data too; anything else becomes text."""
    if hasattr(value, "items"):
        return dict(value.items())
    if isinstance(value, (set, frozenset, tuple)):
        return sorted(value, key=str)
    return str(value)


#: Made once: setting an encoder up costs as much as using it.
_in_json = writer(as_json)


# ── from a hook ──────────────────────────────────────────────────────────────────────────────────────


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """Exit 0: the answer counts. Exit 2: deny. Anything else is a failure, for ``on_failure`` to judge."""
    if "wire" in spec.extra:
        dialect, theirs = _wire(spec)
        return dialect.reply_in(theirs, event, raw)
    if raw.error:
        # It did not get to answer, and the runner knows why.
        return HookError(error=raw.error)
    match spec.action:
        case Function():
            return _from_value(spec, event, raw.value)
        case Prompt():
            return _from_prompt(raw)
        case AgentRun():
            return _from_agent(spec, event, raw)
        case Http():
            return _misplaced(spec, raw) or _from_text(spec, event, raw.stdout)
        case Plugin() if raw.value is not None:
            return _from_value(spec, event, raw.value)
        case Plugin():
            return _from_text(spec, event, raw.stdout)
        case Command():
            return _with_notes(_from_exit(spec, event, raw), raw)


def _from_exit(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    if raw.exit_code == 0:
        return _misplaced(spec, raw) or _from_text(spec, event, raw.stdout)
    if raw.exit_code == DENIED:
        return _denied(spec, event, raw)
    if raw.signal is not None:
        return HookError(error=f"ended by signal {raw.signal}{_last_line(raw)}")
    return HookError(error=f"exit code {raw.exit_code}{_last_line(raw)}")


def _misplaced(spec: HookSpec, raw: RunResult) -> HookError | None:
    """An answer that is not the whole of stdout: what it says is not known for certain, so it is no consent."""
    if not raw.stdout and not raw.stderr and not raw.cut:
        return None
    if raw.cut and (_like_json(raw.stdout) or spec.output.inject == "none"):
        return HookError(error="what it printed is longer than the limit of output, so it was not read to its end")
    if not _like_json(raw.stdout) and _DECIDES.search(raw.stdout):
        return HookError(error="its answer follows other text on stdout; print the answer alone, the rest to stderr")
    if spec.output.inject == "none" and _REFUSAL.fullmatch(raw.stdout):
        word = raw.stdout.strip()[:40]
        return HookError(
            error=f"""it printed {word} and exited with 0; to refuse, print {{"effect": "deny"}} or exit with 2"""
        )
    if not raw.stdout.strip() and _DECIDES.match(raw.stderr):
        return HookError(error="its answer is on stderr; print it to stdout")
    return None


def _with_notes(verdict: Reply | HookError, raw: RunResult) -> Reply | HookError:
    """An answer that was cut off at the limit of output is no mistake of the hook: the error says what happened."""
    if raw.notes and isinstance(verdict, HookError):
        return HookError(error=f"{verdict.error} ({'; '.join(raw.notes)})")
    return verdict


def _denied(spec: HookSpec, event: Event, raw: RunResult) -> Reply:
    """The deny stands whatever was printed; the rest of a readable answer is kept."""
    reason = raw.stderr.strip()
    answer = _from_text(spec, event, raw.stdout) if _like_json(raw.stdout) else None
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


def _from_text(spec: HookSpec, event: Event, text: str) -> Reply | HookError:
    text = text.removeprefix("\ufeff")  # a byte order mark
    if "\0" in text:
        # An object in UTF-16, or no text at all: a refusal in it must not pass as plain text.
        return HookError(error="stdout is not text in UTF-8")
    if not _like_json(text):
        return _plain(spec, text)
    try:
        answer = _read_answer(text)
    except _NotAnAnswerError as error:
        return HookError(error=str(error))
    except (ValueError, RecursionError) as error:
        if getattr(error, "msg", "") == "Extra data":
            return HookError(
                error="other text follows its answer on stdout; print the answer alone, the rest to stderr"
            )
        return HookError(error=f"stdout starts like JSON and is not: {error}")
    return _from_value(spec, event, answer)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A key that stands there twice says two things, and readers differ in which of them counts."""
    made = dict(pairs)
    if len(made) < len(pairs):
        keys = [key for key, _ in pairs]
        twice = next(key for key in made if keys.count(key) > 1)
        raise _NotAnAnswerError(f"the answer has the key {twice[:40]!r} twice")
    return made


#: NaN and Infinity are no JSON. A refusal must not be lost for them, nor may they reach the next hook.
_read_answer = reader(lambda _name: None, _unique_keys)


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


def _from_value(spec: HookSpec, event: Event, value: Any) -> Reply | HookError:
    if value is None:
        return NO_OPINION
    if isinstance(value, Reply):
        return value
    if isinstance(value, str):
        return _plain(spec, value)
    try:
        return _parse_reply(value, spec.output, event)
    except _NotAnAnswerError as error:
        return HookError(error=str(error))


def _from_prompt(raw: RunResult) -> Reply | HookError:
    """ok is no opinion: that a model has no objection must never grant a call."""
    try:
        answer = raw.value if isinstance(raw.value, dict) else loads(raw.stdout)
    except (ValueError, RecursionError) as error:
        return HookError(error=f"the model's answer is not JSON: {error}")
    ok = answer.get("ok") if isinstance(answer, dict) else None
    reason = answer.get("reason", "") if isinstance(answer, dict) else None
    if not isinstance(ok, bool) or not isinstance(reason, (str, type(None))):
        return HookError(error='the model\'s answer is not {"ok": true or false, "reason": text}')
    if ok:
        return Reply()
    return Reply(effect="deny", reason=(reason or "").strip() or "the model refused")


def _from_agent(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """An agent's last text is its output, or its answer if it is one. It may object, but like any model never grant."""
    if raw.exit_code not in {None, 0}:
        return _from_exit(spec, event, raw)
    value = raw.value if raw.value is not None else _json_or_text(raw.stdout)
    if isinstance(value, dict) and value and set(value) <= {"last_text", "error"}:
        if value.get("error"):
            return HookError(error=str(value["error"])[:500])
        value = _json_or_text(str(value.get("last_text") or ""))
    reply = _from_value(spec, event, value)
    return replace(reply, effect=None) if isinstance(reply, Reply) and reply.effect == "allow" else reply


def _json_or_text(text: str) -> Any:
    """An object where there is one: a text that only starts like JSON is a text, since models write those."""
    if not text.lstrip().startswith("{"):
        return text
    try:
        return loads(text)
    except (ValueError, RecursionError):
        return text
