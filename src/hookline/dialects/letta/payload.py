"""What a Letta Code hook reads on stdin: the fields of its event in their order, what is unknown left out."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from hookline.core.agents import uses_dialect
from hookline.dialects.claude_family.wire import output_text, present

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.core.event import Event


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
