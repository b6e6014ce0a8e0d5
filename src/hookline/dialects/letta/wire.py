"""How a Letta Code hook is called, and what its exit code and output mean."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec, Prompt
from hookline.core.result import Context, HookError, Reply, RunResult
from hookline.dialects.base import Call
from hookline.dialects.claude_family.payload import as_mapping, as_text, compact, output_text, own_input, read_object
from hookline.dialects.letta.config import ROWS, EventRules

#: Ways a session can start that continue an older one.
_CONTINUED = frozenset({"resume", "compact", "fork"})


_TOOL = "tool_name tool_input tool_call_id"
_PRECEDING = "preceding_reasoning preceding_assistant_message"
_IDS = "agent_id conversation_id"

#: Event -> the fields of its payload, in Letta Code's order.
_FIELDS: Mapping[str, str] = {
    "PreToolUse": f"{_TOOL} agent_id",
    "PostToolUse": f"{_TOOL} tool_result agent_id {_PRECEDING}",
    "PostToolUseFailure": f"{_TOOL} error_message error_type agent_id {_PRECEDING}",
    "PermissionRequest": "tool_name tool_input agent_id permission session_permissions",
    "UserPromptSubmit": f"prompt is_command {_IDS}",
    "Notification": "message level",
    "Stop": "stop_reason message_count tool_call_count preceding_reasoning assistant_message user_message",
    "SubagentStop": f"subagent_type subagent_id success error {_IDS}",
    "PreCompact": f"context_length max_context_length {_IDS}",
    "SessionStart": "is_new_session agent_id agent_name conversation_id",
    "SessionEnd": f"duration_ms message_count tool_call_count {_IDS}",
}


def payload(name: str, event: Event) -> dict[str, Any]:
    """``name`` is Letta Code's name of the event. What is not known is left out, never null."""
    head = {"event_type": name, "working_directory": event.cwd}
    if name not in _FIELDS:
        return {**head, **event.data}
    data = {**event.data, **_derived(name, event)}
    return head | {field: data[field] for field in _FIELDS[name].split() if data.get(field) is not None}


def _derived(name: str, event: Event) -> dict[str, Any]:
    """Fields that Letta Code words otherwise than we do, and its defaults."""
    data = event.data
    match name:
        case "PreToolUse":
            return _tool(event)
        case "PostToolUse":
            given = data.get("tool_result")
            sent = given if isinstance(given, Mapping) and "tool_output" not in data else None
            result = sent or {"status": "success", "output": output_text(data.get("tool_output"))}
            return {**_tool(event), "tool_result": result}
        case "PostToolUseFailure":
            return {**_tool(event), **_error(data)}
        case "PermissionRequest":
            rules: dict[str, list[str]] = {"allow": [], "deny": [], "ask": [], "alwaysAsk": []}
            permission = data.get("permission") or {"type": "ask"}
            return {
                **_tool(event), "permission": permission,
                "session_permissions": data.get("session_permissions") or rules,
            }  # fmt: skip
        case "UserPromptSubmit":
            return {"is_command": bool(data.get("is_command"))}
        case "Notification":
            return {"level": data.get("level") or "info"}
        case "Stop":
            return {"stop_reason": data.get("stop_reason") or "end_turn"}
        case "SubagentStop":
            return {"success": data.get("success", data.get("error") is None)}
        case "SessionStart" if data.get("is_new_session") is None:
            return {"is_new_session": str(data.get("source")) not in _CONTINUED}
        case _:
            return {}


def _tool(event: Event) -> dict[str, Any]:
    """Letta Code's own name for its own calls, the canonical one for everybody else's."""
    data = event.data
    native = data.get("native_tool_name") if uses_dialect(event.agent, "letta") else None
    return {
        "tool_name": native or data.get("tool_name"),
        **own_input(event, "letta"),
        "tool_call_id": data.get("tool_use_id", data.get("tool_call_id")),
    }


def _error(data: Mapping[str, Any]) -> dict[str, Any]:
    given = data.get("tool_error")
    error = given if isinstance(given, Mapping) else {"message": given}
    message = error.get("message")
    kind = error.get("type") or data.get("error_type")
    return {
        "error_message": output_text(data.get("error_message") if message is None else message),
        # Everything unforeseen is ``error`` among hosts, and ``tool_error`` in Letta Code.
        "error_type": kind if kind and kind != "error" else "tool_error",
    }


#: What the caller has in these is about another agent or another place.
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
    sent = payload(name, event)
    stdin = compact(sent)
    if not isinstance(spec.action, Command):
        return Call(stdin=stdin, cwd=event.cwd)
    argv, *others = _launchers(_source(spec.action.text, event.environ), event.environ)
    return Call(
        argv=argv,
        fallbacks=tuple(others),
        stdin=stdin,
        environ=_environ(name, event, sent.get("agent_id")),
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
        return HookError(error=raw.error or "timed out", reply=_unconditional(row, stdout, stderr))
    if isinstance(spec.action, Prompt):
        return _judged(row, stdout)
    if raw.exit_code == 2:
        return _blocked(row, stdout, stderr)
    if raw.exit_code == 0:
        return _passed(row, event, stdout, stderr)
    return HookError(error=raw.failure_text(stderr), reply=_unconditional(row, stdout, stderr))


def _judged(row: EventRules, answer: str) -> Reply | HookError:
    """A model's verdict. An allowing one says nothing to the agent."""
    verdict = read_object(answer)
    if verdict is None or not isinstance(verdict.get("ok"), bool):
        return HookError(error='the model did not answer with {"ok": true or false}')
    if verdict["ok"]:
        return Reply(context=_additional(row, answer))
    return _blocked(row, "", as_text(verdict.get("reason")).strip())


def _blocked(row: EventRules, stdout: str, stderr: str) -> Reply:
    if row.on_two == "deny":
        return Reply(effect="deny", reason=stderr or row.silent)
    if row.on_two == "feed back":
        return Reply(context=_texts(stderr))
    if row.on_two == "stop":
        return Reply(effect="deny", reason=stderr or row.silent, context=_texts(stdout))
    return _unconditional(row, stdout, stderr) or Reply()


def _passed(row: EventRules, event: Event, stdout: str, stderr: str) -> Reply:
    match row.stdout:
        case "text":
            return Reply(context=_texts(stdout))
        case "json":
            return Reply(context=(*_additional(row, stdout), *(_texts(stderr) if row.any_exit else ())))
        case "nothing":
            return _structured(row, event, stdout)


def _structured(row: EventRules, event: Event, stdout: str) -> Reply:
    specific = as_mapping((read_object(stdout) or {}).get("hookSpecificOutput"))
    if row.name == "PreToolUse" and isinstance(specific.get("updatedInput"), dict):
        return Reply(data={"tool_input": {**as_mapping(event.data.get("tool_input")), **specific["updatedInput"]}})
    if row.name == "PermissionRequest" and _grants(specific):
        return Reply(effect="allow")
    return Reply()


def _grants(specific: Mapping[str, Any]) -> bool:
    """Exit 0 alone approves nothing here: a hook that only watches must not grant a permission."""
    return "allow" in (as_mapping(specific.get("decision")).get("behavior"), specific.get("permissionDecision"))


def _unconditional(row: EventRules, stdout: str, stderr: str) -> Reply | None:
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
    nested = as_mapping(answer.get("hookSpecificOutput")).get("additionalContext")
    return _texts(as_text(nested or answer.get("additionalContext")))


def _texts(text: str) -> tuple[Context, ...]:
    return (Context(text=text),) if text else ()
