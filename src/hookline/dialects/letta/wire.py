"""How a Letta Code hook is called, and what its exit code and output mean."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from typing import Any

from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec, Prompt
from hookline.core.result import Context, HookError, Reply, RunResult
from hookline.dialects.base import Call
from hookline.dialects.claude_family.payload import compact, output_text, present, read_object
from hookline.dialects.letta.events import ROWS, EventRules

#: Ways a session can start that continue an older one.
_CONTINUED = frozenset({"resume", "compact", "fork"})


def payload(name: str, event: Event) -> dict[str, Any]:
    """``name`` is Letta Code's name of the event."""
    fields = _FIELDS.get(name, _everything)
    return {"event_type": name, "working_directory": event.cwd, **fields(event, event.data)}


def _tool_name(event: Event, data: Mapping[str, Any]) -> Any:
    """Letta Code's own name for its own calls, the canonical one for everybody else's."""
    native = data.get("native_tool_name")
    return native if native and uses_dialect(event.agent, "letta") else data.get("tool_name")


def _called(data: Mapping[str, Any]) -> Any:
    return data.get("tool_use_id", data.get("tool_call_id"))


def _pre_tool_use(event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    return present(
        tool_name=_tool_name(event, data),
        tool_input=data.get("tool_input"),
        tool_call_id=_called(data),
        agent_id=data.get("agent_id"),
    )


def _post_tool_use(event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    given = data.get("tool_result")
    result = given if isinstance(given, Mapping) and "tool_output" not in data else None
    return present(
        tool_name=_tool_name(event, data),
        tool_input=data.get("tool_input"),
        tool_call_id=_called(data),
        tool_result=result or {"status": "success", "output": output_text(data.get("tool_output"))},
        agent_id=data.get("agent_id"),
        preceding_reasoning=data.get("preceding_reasoning"),
        preceding_assistant_message=data.get("preceding_assistant_message"),
    )


def _post_tool_use_failure(event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    error = data.get("tool_error")
    told = error if isinstance(error, Mapping) else {"message": error}
    message = told.get("message", data.get("error_message"))
    return present(
        tool_name=_tool_name(event, data),
        tool_input=data.get("tool_input"),
        tool_call_id=_called(data),
        error_message=output_text(data.get("error_message") if message is None else message),
        error_type=_error_type(told.get("type") or data.get("error_type")),
        agent_id=data.get("agent_id"),
        preceding_reasoning=data.get("preceding_reasoning"),
        preceding_assistant_message=data.get("preceding_assistant_message"),
    )


def _error_type(told: Any) -> Any:
    """Everything unforeseen is ``error`` among hosts, and ``tool_error`` in Letta's words."""
    return told if told and told != "error" else "tool_error"


def _permission_request(event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    rules: dict[str, list[str]] = {"allow": [], "deny": [], "ask": [], "alwaysAsk": []}
    return present(
        tool_name=_tool_name(event, data),
        tool_input=data.get("tool_input"),
        agent_id=data.get("agent_id"),
        permission=data.get("permission") or {"type": "ask"},
        session_permissions=data.get("session_permissions") or rules,
    )


def _user_prompt_submit(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    return present(prompt=data.get("prompt"), is_command=bool(data.get("is_command")), **_ids(data))


def _notification(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    return present(message=data.get("message"), level=data.get("level") or "info")


def _stop(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    return present(
        stop_reason=data.get("stop_reason") or "end_turn",
        message_count=data.get("message_count"),
        tool_call_count=data.get("tool_call_count"),
        preceding_reasoning=data.get("preceding_reasoning"),
        assistant_message=data.get("assistant_message"),
        user_message=data.get("user_message"),
    )


def _subagent_stop(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    error = data.get("error")
    return present(
        subagent_type=data.get("subagent_type"),
        subagent_id=data.get("subagent_id"),
        success=data.get("success", error is None),
        error=error,
        **_ids(data),
    )


def _pre_compact(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    lengths = present(context_length=data.get("context_length"), max_context_length=data.get("max_context_length"))
    return {**lengths, **_ids(data)}


def _session_start(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    told = data.get("is_new_session")
    return present(
        is_new_session=str(data.get("source")) not in _CONTINUED if told is None else told,
        agent_id=data.get("agent_id"),
        agent_name=data.get("agent_name"),
        conversation_id=data.get("conversation_id"),
    )


def _session_end(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    counts = {name: data.get(name) for name in ("duration_ms", "message_count", "tool_call_count")}
    return {**present(**counts), **_ids(data)}


def _everything(_event: Event, data: Mapping[str, Any]) -> dict[str, Any]:
    return dict(data)


def _ids(data: Mapping[str, Any]) -> dict[str, Any]:
    return present(agent_id=data.get("agent_id"), conversation_id=data.get("conversation_id"))


_FIELDS: Mapping[str, Callable[[Event, Mapping[str, Any]], dict[str, Any]]] = {
    "PreToolUse": _pre_tool_use,
    "PostToolUse": _post_tool_use,
    "PostToolUseFailure": _post_tool_use_failure,
    "PermissionRequest": _permission_request,
    "UserPromptSubmit": _user_prompt_submit,
    "Notification": _notification,
    "Stop": _stop,
    "SubagentStop": _subagent_stop,
    "PreCompact": _pre_compact,
    "SessionStart": _session_start,
    "SessionEnd": _session_end,
}


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
