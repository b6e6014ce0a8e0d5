"""How a Lectic hook is called, and what its exit code and output mean."""

from __future__ import annotations

import signal
import sys
from typing import TYPE_CHECKING

from hookline.core.hook import Command
from hookline.core.result import HookError, Reply
from hookline.dialects.base import Call
from hookline.dialects.lectic.conversation import conversation
from hookline.dialects.lectic.directories import standard_variables
from hookline.dialects.lectic.events import BASE_EVENTS, NATIVE
from hookline.dialects.lectic.fields import EMPTY_COMMAND, NO_SHEBANG
from hookline.dialects.lectic.output import inline_reply
from hookline.dialects.lectic.tokens import expand_argv
from hookline.dialects.lectic.variables import EVENT_VARIABLES, clean, event_variables

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import RunResult

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
    stdin = conversation(spec, event) if event.kind.name == "AssistantMessage" else ""
    return Call(
        argv=argv,
        script=script,
        stdin=stdin.encode("utf-8", "replace"),
        environ=variables,
        unset=frozenset(unset),
        cwd=event.cwd,
        standins=_STANDINS,
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
    said = inline_reply(spec.output, raw.stdout)
    kept = said if spec.on_failure == "ignore" else None
    base = _base_event(spec, event)
    if raw.error:
        return HookError(error=f"Hook {_label(spec)} failed to start for {base}: {_start_error(spec, raw)}", reply=kept)
    if raw.timed_out:
        return HookError(
            error=f"Hook {_label(spec)} timed out for {base} after {spec.timeout or 0:g} seconds", reply=kept
        )
    if raw.exit_code == 0:
        return said
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
    told = f"Hook {_label(spec)} failed for {base} with exit code {_exit_text(raw)}"
    return f"{told}\nstderr: {stderr}" if stderr else told


def _refusal(spec: HookSpec, raw: RunResult) -> str:
    """Lectic's own words, then who refused and why: a person must be able to see it."""
    stderr = raw.stderr.strip()
    told = f"{_DENIED if spec.event == 'PreToolUse' else 'Refused'} by hook {_label(spec)}"
    return f"{told}: {stderr}" if stderr else told


def _exit_text(raw: RunResult) -> str:
    if raw.exit_code is not None:
        return str(raw.exit_code)
    try:
        return f"null ({signal.Signals(raw.signal or 0).name})"
    except ValueError:
        return "null"
