"""Gemini CLI: commands in its settings, under event names of its own, and an agent that calls us."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Context, Decision, Effect, HookError, Reply, RunResult
from hookline.dialects.base import Answer
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import FieldMap, field_names, llm_output, llm_response
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import search_pattern
from hookline.dialects.claude_family.payload import as_mapping, as_text, output_text, read_object, tool_failure
from hookline.dialects.claude_family.reply import ReplyDraft, output_as_text, write_reply
from hookline.dialects.claude_family.reply_reader import refuse

_EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "SessionStart": "SessionStart",
        "SessionEnd": "SessionEnd",
        "BeforeAgent": "UserPromptSubmit",
        "AfterAgent": "Stop",
        "BeforeModel": "PreModelRequest",
        "AfterModel": "PostModelRequest",
        "BeforeToolSelection": "PreToolSelection",
        "BeforeTool": "PreToolUse",
        "AfterTool": "PostToolUse",
        "PreCompress": "PreCompact",
        "Notification": "Notification",
    }
)


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    server = sent.get("mcp_context")
    if isinstance(server, dict) and server.get("server_name") and server.get("tool_name"):
        found["tool_name"] = f"mcp__{server['server_name']}__{server['tool_name']}"
        found |= {"mcp_server_name": server["server_name"], "mcp_tool_name": server["tool_name"]}
    if event == "PostToolUse":
        found |= _result(sent.get("tool_response"))
    return found


def _result(response: Any) -> dict[str, Any]:
    """Gemini has no event of its own for a tool that failed: its result says so, and the event is derived."""
    error = as_mapping(response).get("error")
    if error:
        message = error.get("message") if isinstance(error, dict) else error
        return tool_failure(output_text(message))
    return {"tool_output": llm_output(response)}


def _native_fields(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if data.get("mcp_server_name"):
        found["mcp_context"] = {"server_name": data["mcp_server_name"], "tool_name": data.get("mcp_tool_name")}
    return found | ({"tool_response": llm_response(data)} if event in {"PostToolUse", "PostToolUseFailure"} else {})


_WORDS = FieldMap(
    dialect="gemini",
    events=_EVENTS,
    frame=field_names("session_id transcript_path cwd timestamp"),
    session_variable="GEMINI_SESSION_ID",
    cwd_variable="GEMINI_CWD",
    fields={
        "SessionStart": field_names("source"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "Stop": field_names("user_message:prompt assistant_message:prompt_response stop_hook_active"),
        "PreModelRequest": field_names("llm_request"),
        "PreToolSelection": field_names("llm_request"),
        "PostModelRequest": field_names("llm_request llm_response"),
        "PreToolUse": field_names("tool_name tool_input mcp_context"),
        "PostToolUse": field_names("tool_name tool_input tool_response mcp_context"),
        "PostToolUseFailure": field_names("tool_name tool_input tool_response mcp_context"),
        "PreCompact": field_names("trigger"),
        "Notification": field_names("notification_type message details"),
    },
    canonical_fields=_canonical_fields,
    native_fields=_native_fields,
    mcp=r"mcp_(?P<server>[^_]+)_(?P<tool>.+)",
    always={"SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"}, "PreCompact": {"trigger": "auto"}},
)  # fmt: skip


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────

_EFFECTS: Mapping[str, Effect] = {"deny": "deny", "block": "deny", "ask": "ask", "allow": "allow", "approve": "allow"}


def _read_reply(event: Event, raw: RunResult) -> Reply | HookError:
    """Gemini reads stderr as the answer when stdout is empty; a code above 1 with plain text denies."""
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if isinstance(raw.value, Reply):
        return raw.value
    text = raw.stdout.strip() or raw.stderr.strip()
    answer = dict(raw.value) if isinstance(raw.value, dict) else read_object(text)
    if answer is not None:
        return _json_reply(event, answer)
    if not raw.failed:
        if text.startswith("{"):
            return HookError(error="its output starts like a JSON object but is not valid JSON")
        return Reply(messages=(text,)) if text else Reply()  # plain text is for the person, never for the model
    if raw.exit_code == 1 or raw.signal is not None or not text:
        return HookError(error=raw.failure_text(text))
    if event.kind.deniable or event.kind.name == "PostToolUse":
        return refuse(event, text)
    return HookError(error=f"exit code {raw.exit_code} decides nothing on {event.kind.name}: {text}")


def _json_reply(event: Event, answer: Mapping[str, Any]) -> Reply:
    specific = as_mapping(answer.get("hookSpecificOutput"))
    reply = _decided(event, answer)
    context, message = as_text(specific.get("additionalContext")), as_text(answer.get("systemMessage"))
    return Reply(
        effect=reply.effect,
        reason=reply.reason,
        data=_changes(event, specific),
        context=(*reply.context, *((Context(text=context),) if context else ())),
        messages=(message,) if message else (),
        attributes={
            **({"continue": False} if answer.get("continue") is False else {}),
            **{key: value for key, value in specific.items() if key not in _PLACED},
        },
    )


_PLACED = frozenset({"hookEventName", "additionalContext", "tool_input"})


def _decided(event: Event, answer: Mapping[str, Any]) -> Reply:
    if answer.get("continue") is False:
        if event.kind.continues or not event.kind.deniable:
            return Reply()
        return Reply(effect="deny", reason=as_text(answer.get("stopReason")) or "Stopped by hook")
    effect, reason = _EFFECTS.get(as_text(answer.get("decision"))), as_text(answer.get("reason"))
    if effect == "deny":
        return refuse(event, reason or "Blocked by hook")
    if effect == "ask" or (effect == "allow" and event.kind.name == "PreToolUse"):
        return Reply(effect=effect, reason=reason)
    return Reply()


def _changes(event: Event, specific: Mapping[str, Any]) -> dict[str, Any]:
    """The new input is laid over the old one, key by key."""
    new = specific.get("tool_input")
    if event.kind.name != "PreToolUse" or not isinstance(new, dict):
        return {}
    return {"tool_input": {**as_mapping(event.data.get("tool_input")), **new}}


_NATIVE = {canonical: native for native, canonical in _EVENTS.items()} | {"PostToolUseFailure": "AfterTool"}


def _forms(draft: ReplyDraft) -> None:
    data = draft.decision.data
    if draft.denies:
        draft.block("deny")
    elif draft.feasible.field == "tool_input":
        draft.specific["tool_input"] = data["tool_input"]
    elif draft.feasible.field == "tool_output":
        # The result can only be put in its place as an error: better that than what the hook took out of it.
        text = output_as_text(data["tool_output"])
        draft.block("deny", text if text.strip() else "(no output)")
        draft.lost = (*draft.lost, "the success of the tool")
    if draft.event.kind.continues:
        draft.stop()


# ── the hooks file ────────────────────────────────────────────────────────────────────────────────────


_SYSTEM = HooksFormat(
    dialect="gemini",
    events=_EVENTS,
    fields=frozenset({"name", "type", "command", "timeout", "description"}),
    kept=("name", "description"),
    per_second=1000,
    timeout=60.0,
    switches=("enabled", "disabled", "notifications"),
    group_fields=frozenset({"sequential"}),
    matched=frozenset({"BeforeTool", "AfterTool", "SessionStart", "SessionEnd", "PreCompress", "Notification"}),
    pattern=search_pattern,
)


class _GeminiDialect(AgentDialect):
    name = "gemini"
    events = _EVENTS
    system = _SYSTEM
    words = _WORDS

    def environ(self, event: Event) -> Mapping[str, str]:
        own = uses_dialect(event.agent, "gemini")
        project = (event.environ.get("GEMINI_PROJECT_DIR", "") if own else "") or event.cwd
        return {
            "GEMINI_PROJECT_DIR": project, "GEMINI_CWD": event.cwd, "GEMINI_SESSION_ID": event.session,
            "CLAUDE_PROJECT_DIR": project,
        }  # fmt: skip

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        del spec
        return _read_reply(event, raw)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return write_reply("gemini", event, decision, _forms, native_name=_NATIVE.get(event.kind.name, ""))


DIALECT = _GeminiDialect()
