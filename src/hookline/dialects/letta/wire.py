"""How a Letta Code hook is called, and what its exit code and output mean."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

from hookline.core.hook import Command, Prompt
from hookline.core.result import Context, HookError, Reply
from hookline.dialects.base import Call
from hookline.dialects.claude_family.wire import compact, read_object
from hookline.dialects.letta.events import ROWS, EventRules
from hookline.dialects.letta.payload import payload

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import RunResult

#: Whatever the caller had in these speaks of another agent or another place.
_UNSET = frozenset(
    {
        "LETTA_AGENT_ID", "AGENT_ID", "LETTA_CONVERSATION_ID", "CONVERSATION_ID", "LETTA_MEMORY_DIR", "MEMORY_DIR",
        "USER_CWD", "LETTA_WORKING_DIR",
    }
)  # fmt: skip

_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/zsh", "/bin/sh", "/bin/ash")
_MAC_SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh", "/bin/ash")
_BY_NAME = ("bash", "zsh", "sh", "ash")


# ── to the hook ──────────────────────────────────────────────────────────────────────────────────────


def event_out(spec: HookSpec, event: Event) -> Call:
    """A command gets its event on stdin in one line without an end; a prompt gets the same line as its input."""
    name = spec.native_event or event.kind.name
    told = payload(name, event)
    stdin = compact(told)
    if not isinstance(spec.action, Command):
        return Call(stdin=stdin, cwd=event.cwd)
    argv, *others = _launchers(_source(spec.action.text, event.environ), event.environ)
    return Call(
        argv=argv,
        fallbacks=tuple(others),
        stdin=stdin,
        environ=_environ(name, event, told.get("agent_id")),
        unset=_UNSET,
        cwd=event.cwd,
    )


def _source(text: str, environ: Mapping[str, str]) -> str:
    strict = environ.get("LETTA_BASH_STRICT", "").lower() in {"1", "true"}
    return f"set -euo pipefail\n{text.strip()}" if strict else text.strip()


def _launchers(source: str, environ: Mapping[str, str]) -> list[tuple[str, ...]]:
    """The login shell, then every usual one: only a shell that is not there makes way for the next."""
    login = environ.get("SHELL", "").strip()
    own = (login,) if login.startswith("/") else ()
    shells = ("/bin/zsh", *own, *_MAC_SHELLS) if sys.platform == "darwin" else (*own, *_SHELLS)
    direct = [(shell, "-c", source) for shell in dict.fromkeys(shells)]
    return [*direct, *(("/usr/bin/env", name, "-c", source) for name in _BY_NAME)]


def _environ(name: str, event: Event, agent_id: Any) -> dict[str, str]:
    environ = {"LETTA_HOOK_EVENT": name, "LETTA_WORKING_DIR": event.cwd, "USER_CWD": event.cwd}
    if agent_id and isinstance(agent_id, str):
        environ |= {"LETTA_AGENT_ID": agent_id, "AGENT_ID": agent_id}
    return environ


# ── from the hook ────────────────────────────────────────────────────────────────────────────────────


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    """Exit 0 proceeds, 2 blocks with stderr as the reason, anything else is a failure that blocks nothing."""
    row = ROWS.get(spec.native_event or event.kind.name, EventRules(name=event.kind.name))
    stdout, stderr = raw.stdout.strip(), raw.stderr.strip()
    if raw.error or raw.timed_out:
        # Ended from outside: its exit code says nothing, not even 2.
        return HookError(error=raw.error or "timed out", reply=_said_anyway(row, stdout, stderr))
    if isinstance(spec.action, Prompt):
        return _judged(row, stdout)
    if raw.exit_code == 2:
        return _blocked(row, stdout, stderr)
    if raw.exit_code == 0:
        return _passed(row, event, stdout, stderr)
    return HookError(error=_failure(raw, stderr), reply=_said_anyway(row, stdout, stderr))


def _failure(raw: RunResult, stderr: str) -> str:
    what = f"exit code {raw.exit_code}" if raw.exit_code is not None else f"ended by signal {raw.signal}"
    return f"{what}: {stderr}" if stderr else what


def _judged(row: EventRules, answer: str) -> Reply | HookError:
    """A model's verdict. An allowing one says nothing to the agent."""
    verdict = read_object(answer)
    if verdict is None or not isinstance(verdict.get("ok"), bool):
        return HookError(error='the model did not answer with {"ok": true or false}')
    if verdict["ok"]:
        return Reply(context=_additional(row, answer))
    reason = verdict.get("reason")
    return _blocked(row, "", reason.strip() if isinstance(reason, str) else "")


def _blocked(row: EventRules, stdout: str, stderr: str) -> Reply:
    if row.on_two == "deny":
        return Reply(effect="deny", reason=stderr or row.silent)
    if row.on_two == "feed back":
        return Reply(context=_texts(stderr))
    return _said_anyway(row, stdout, stderr) or Reply()


def _passed(row: EventRules, event: Event, stdout: str, stderr: str) -> Reply:
    match row.stdout:
        case "text":
            return Reply(context=_texts(stdout))
        case "json":
            return Reply(context=(*_additional(row, stdout), *(_texts(stderr) if row.any_exit else ())))
        case "nothing":
            return _structured(row, event, stdout)


def _structured(row: EventRules, event: Event, stdout: str) -> Reply:
    answer = read_object(stdout) or {}
    specific = answer.get("hookSpecificOutput")
    said: Mapping[str, Any] = specific if isinstance(specific, dict) else {}
    if row.name == "PreToolUse" and isinstance(said.get("updatedInput"), dict):
        return Reply(data={"tool_input": {**_object(event.data.get("tool_input")), **said["updatedInput"]}})
    if row.name == "PermissionRequest" and _grants(said):
        return Reply(effect="allow")
    return Reply()


def _grants(said: Mapping[str, Any]) -> bool:
    """Exit 0 alone approves nothing here: a hook that only watches must not open the door."""
    decision = said.get("decision")
    behavior = decision.get("behavior") if isinstance(decision, dict) else None
    return behavior == "allow" or said.get("permissionDecision") == "allow"


def _said_anyway(row: EventRules, stdout: str, stderr: str) -> Reply | None:
    """What counts whatever the exit code: stdout at a session's start, stderr after a failed tool."""
    if not row.any_exit:
        return None
    context = _texts(stdout if row.stdout == "text" else stderr)
    return Reply(context=context) if context else None


def _additional(row: EventRules, stdout: str) -> tuple[Context, ...]:
    """``additionalContext``, nested before top level, where the whole output is one JSON object."""
    answer = read_object(stdout) if row.stdout == "json" else None
    if answer is None:
        return ()
    nested = _object(answer.get("hookSpecificOutput")).get("additionalContext")
    text = nested or answer.get("additionalContext")
    return _texts(text) if isinstance(text, str) else ()


def _texts(text: str) -> tuple[Context, ...]:
    return (Context(text=text),) if text else ()


def _object(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}
