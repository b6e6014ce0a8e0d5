"""How a Lectic hook is called, and what its exit code and output mean."""

from __future__ import annotations

import json
import re
import signal
import sys
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec, Output
from hookline.core.result import Context, HookError, Reply, RunResult
from hookline.dialects.base import Call
from hookline.dialects.lectic.events import BASE_EVENTS, NATIVE
from hookline.dialects.lectic.tokens import expand_argv
from hookline.dialects.lectic.validate import EMPTY_COMMAND, NO_SHEBANG
from hookline.dialects.lectic.variables import (
    EVENT_VARIABLES,
    NOBODY,
    clean,
    event_variables,
    interlocutor,
    standard_variables,
)


def _conversation(spec: HookSpec, event: Event) -> str:
    """The conversation that the host gives; for an agent without one, it is rendered from the history."""
    given = event.data.get("conversation")
    if isinstance(given, str):
        return given
    messages = list(_messages(event.data))
    if not messages:
        return ""
    speaker = interlocutor(spec, event) or NOBODY
    model = event.data.get("model")
    header = ["---", "interlocutor:", f"  name: {_quoted(speaker)}", '  prompt: ""']
    header += [f"  model: {_quoted(model)}"] if isinstance(model, str) and model else []
    blocks = [_block(_block_name(speaker), text) if role == "assistant" else text for role, text in messages]
    return "\n\n".join(["\n".join([*header, "---"]), *blocks])


def _messages(data: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The history, and this reply if the history does not end with it."""
    last: tuple[str, str] | None = None
    history = data.get("history")
    for item in history if isinstance(history, list | tuple) else ():
        if isinstance(item, Mapping) and isinstance(item.get("text"), str):
            last = ("assistant" if item.get("role") == "assistant" else "user", item["text"].strip())
            yield last
    message = data.get("message")
    if isinstance(message, str) and message.strip() and last != ("assistant", message.strip()):
        yield "assistant", message.strip()


def _block(name: str, text: str) -> str:
    """Fenced with more colons than any line of the text begins with."""
    longest = max((len(run) for run in re.findall(r"(?m)^\s*(:{3,})", text)), default=2)
    fence = ":" * (longest + 1)
    return f"{fence}{name}\n\n{text}\n\n{fence}"


def _block_name(speaker: str) -> str:
    return re.sub(r"[^\w-]", "_", speaker)


def _quoted(text: str) -> str:
    """A JSON string is a YAML string."""
    return json.dumps(text, ensure_ascii=False)


_HEADER = re.compile(r"LECTIC:([A-Za-z0-9_-]+)(?::(.*))?")

#: Headers that steer the turn; they also become attributes of the reply.
_STEERING = ("final", "reset")


def split_headers(text: str) -> tuple[dict[str, str], str]:
    """``LECTIC:KEY[:VALUE]`` lines at the very beginning, and the rest without the one blank line after them."""
    headers: dict[str, str] = {}
    position = 0
    while position < len(text):
        end = text.find("\n", position)
        stop = len(text) if end < 0 else end
        line = text[position:stop]
        found = _HEADER.fullmatch(line)
        if found is None:
            if headers and not line.strip():
                position = min(stop + 1, len(text))
            break
        headers[found[1].lower()] = "true" if found[2] is None else found[2]
        position = min(stop + 1, len(text))
    return headers, text[position:]


def with_headers(headers: Mapping[str, str], text: str) -> str:
    """The way back. The blank line is there whenever it is needed to end the headers."""
    lines = [f"LECTIC:{key}\n" if value == "true" else f"LECTIC:{key}:{value}\n" for key, value in headers.items()]
    return "".join(lines) + ("\n" if lines else "") + text


def _inline_reply(output: Output, stdout: str) -> Reply:
    """Nothing for blank output. A comment's headers are stripped and mean nothing."""
    if output.inject not in ("attachment", "comment") or not stdout.strip():
        return Reply()
    headers, text = split_headers(stdout)
    if output.inject == "comment":
        return Reply(context=(Context(text=text, placement="comment", label=output.label),))
    attributes = _attributes(output, headers)
    context = Context(
        text=text, placement="attachment", label=attributes.get("name", ""), attributes=MappingProxyType(attributes)
    )
    steering = {key: headers[key] for key in _STEERING if key in headers}
    return Reply(context=(context,), attributes=MappingProxyType(steering))


def _attributes(output: Output, headers: Mapping[str, str]) -> dict[str, str]:
    """The icon first, headers in the order printed, the name last; the hook's own icon and name win."""
    icon = output.icon or headers.get("icon", "")
    name = output.label or headers.get("name", "")
    rest = {key: value for key, value in headers.items() if key not in ("icon", "name")}
    return {**({"icon": icon} if icon else {}), **rest, **({"name": name} if name else {})}


#: Hooks of the documents call "lectic editor …".
_STANDINS = ("lectic",)

_DENIED = "Tool use permission denied"


def event_out(spec: HookSpec, event: Event) -> Call:
    """Caller's environment < Lectic's variables < the hook's own < the event's; no arguments."""
    file = event.data.get("file")
    variables = {
        **standard_variables(event.environ, sys.platform, clean(file) if isinstance(file, str) else ""),
        **spec.environ,
        **event_variables(spec, event),
    }
    unset = (EVENT_VARIABLES | {"LECTIC_FILE"}) - variables.keys()
    inherited = {name: text for name, text in event.environ.items() if name not in unset}
    argv, script = _command(spec, {**inherited, **variables})
    stdin = _conversation(spec, event) if event.kind.name == "AssistantMessage" else ""
    return Call(
        argv=argv,
        script=script,
        stdin=stdin.encode("utf-8", "replace"),
        environ=variables,
        unset=frozenset(unset),
        cwd=event.cwd,
        standins=_STANDINS,
        hosted=True,
    )


def _command(spec: HookSpec, environ: dict[str, str]) -> tuple[tuple[str, ...], str | None]:
    """The words of a one-line command, or the shebang's words and the script. Empty for what cannot run."""
    action = spec.action
    assert isinstance(action, Command), "this dialect makes commands only"
    match action.form:
        case "script":
            interpreter = _interpreter(action.text)
            # Without a shebang there is nothing to run: a runner would guess a shell, and Lectic refuses.
            return interpreter, action.text if interpreter else None
        case "words":
            return expand_argv(action.text, environ), None
        case _:
            return action.argv, None


def _interpreter(script: str) -> tuple[str, ...]:
    first, _, _ = script.partition("\n")
    return tuple(first.removeprefix("#!").split()) if first.startswith("#!") else ()


# ── the answer ───────────────────────────────────────────────────────────────────────────────────────


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """Zero is no opinion. Non-zero refuses a tool call or what a shell is about to do, and is a failure everywhere else.

    Inline output of a failure that is allowed is recorded all the same.
    """
    stdout = raw.stdout if not raw.cut else f"{raw.stdout}\n[cut here: {', '.join(raw.notes)}]\n"
    reply = _inline_reply(spec.output, stdout)
    kept = reply if spec.on_failure == "ignore" else None
    base = _base_event(spec, event)
    if raw.error:
        return HookError(error=f"Hook {_label(spec)} failed to start for {base}: {_start_error(spec, raw)}", reply=kept)
    if raw.timed_out:
        return HookError(
            error=f"Hook {_label(spec)} timed out for {base} after {spec.timeout or 0:g} seconds", reply=kept
        )
    if raw.exit_code == 0:
        return reply
    refuses = spec.event == "PreToolUse" or (event.kind.family == "shell" and event.kind.deniable)
    if refuses and spec.mode == "sync" and spec.on_failure != "ignore":
        return Reply(effect="deny", reason=_refusal(spec, raw))
    return HookError(error=_failure(spec, base, raw), reply=kept)


def _label(spec: HookSpec) -> str:
    """What Lectic calls a hook in its messages: the name it was given, or the first line of its command."""
    text = spec.action.text if isinstance(spec.action, Command) else ""
    return f'"{spec.output.label or text.partition(chr(10))[0] or spec.name}"'


def _base_event(spec: HookSpec, event: Event) -> str:
    row = NATIVE.get(spec.native_event)
    return row.base if row else BASE_EVENTS.get(event.kind.name, event.kind.name)


def _start_error(spec: HookSpec, raw: RunResult) -> str:
    if isinstance(spec.action, Command):
        text = spec.action.text
        if spec.action.form == "script" and not text.startswith("#!"):
            return NO_SHEBANG
        if spec.action.form == "words" and not text.strip():
            return EMPTY_COMMAND
    return raw.error


def _failure(spec: HookSpec, base: str, raw: RunResult) -> str:
    stderr = raw.stderr.strip()
    message = f"Hook {_label(spec)} failed for {base} with exit code {_exit_text(raw)}"
    return f"{message}\nstderr: {stderr}" if stderr else message


def _refusal(spec: HookSpec, raw: RunResult) -> str:
    """Lectic's own message, then which hook refused and why."""
    stderr = raw.stderr.strip()
    message = f"{_DENIED if spec.event == 'PreToolUse' else 'Refused'} by hook {_label(spec)}"
    return f"{message}: {stderr}" if stderr else message


def _exit_text(raw: RunResult) -> str:
    if raw.exit_code is not None:
        return str(raw.exit_code)
    try:
        return f"null ({signal.Signals(raw.signal or 0).name})"
    except ValueError:
        return "null"
