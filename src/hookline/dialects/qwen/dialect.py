"""Qwen's files, and both directions of its wire."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Decision, HookError, Reply, RunResult
from hookline.dialects.base import Answer, ConfigPlace
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import FieldMap, after_tool, error_text, field_names
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.payload import output_text
from hookline.dialects.claude_family.reply import ReplyDraft, write_reply
from hookline.dialects.claude_family.reply_reader import Rules, read

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        **{
            name: name
            for name in (
                "SessionStart", "SessionEnd", "UserPromptSubmit", "UserPromptExpansion", "PreToolUse", "PostToolUse",
                "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied", "Notification",
                "MessageDisplay", "Stop", "StopFailure", "SubagentStart", "SubagentStop", "PreCompact", "PostCompact",
                "InstructionsLoaded",
            )
        },
        "TodoCreated": "TaskCreated",
        "TodoCompleted": "TaskCompleted",
        "SessionDelete": "qwen:SessionDelete",
    }
)  # fmt: skip

_TOOL = "tool_name tool_input tool_use_id tool_call_id"


def _meant(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found = after_tool(event, sent)
    if event == "PostToolUse":
        found["tool_output"] = _output(sent.get("tool_response"))
    if event == "UserPromptSubmit" and "submitted_prompt" not in sent:
        # Fired again for every step of the agent, and for the words of a hook: nobody typed that.
        found["auto_submit"] = True
    return found


def _output(response: Any) -> str:
    return output_text(response.get("llmContent", "") if isinstance(response, dict) else response)


def _derived(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    match event:
        case "PostToolUse":
            return {"tool_response": _response(data)}
        case "PostToolUseFailure":
            return {"error": error_text(data), "is_interrupt": bool(data.get("is_interrupt"))}
        case "Stop" | "SubagentStop":
            return {"stop_hook_active": data.get("stop_hook_active", bool(data.get("continuations")))}
        case _:
            return {}


def _response(data: Mapping[str, Any]) -> Any:
    as_sent, output = data.get("tool_response"), data.get("tool_output")
    if isinstance(as_sent, dict) and (output is None or _output(as_sent) == output):
        return as_sent
    text = output_text(output)
    return {"llmContent": text, "returnDisplay": text}


WORDS = FieldMap(
    dialect="qwen",
    events=EVENTS,
    frame=field_names("session_id transcript_path cwd timestamp permission_mode prompt_id"),
    session_variable="QWEN_CODE_SESSION_ID",
    cwd_variable="QWEN_PROJECT_DIR",
    fields={
        "SessionStart": field_names("source model"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt submitted_prompt"),
        "PreToolUse": field_names(_TOOL),
        "PermissionRequest": field_names("tool_name tool_input permission_suggestions"),
        "PermissionDenied": field_names(_TOOL + " reason"),
        "PostToolUse": field_names(_TOOL + " tool_response duration_ms"),
        "PostToolUseFailure": field_names(_TOOL + " error is_interrupt duration_ms"),
        "PostToolBatch": field_names("tool_calls"),
        "Stop": field_names("stop_hook_active assistant_message:last_assistant_message background_tasks crons context_usage "
                      "context_limit input_tokens"),
        "SubagentStart": field_names("subagent_id:agent_id subagent_type:agent_type"),
        "SubagentStop": field_names("subagent_id:agent_id subagent_type:agent_type stop_hook_active "
                              "assistant_message:last_assistant_message"),
        "PreCompact": field_names("trigger custom_instructions"),
        "PostCompact": field_names("trigger summary:compact_summary"),
        "Notification": field_names("message notification_type title"),
        "MessageDisplay": field_names("message_id message:displayed_text is_final"),
        "InstructionsLoaded": field_names("file_path memory_type load_reason"),
    },
    meant=_meant,
    derived=_derived,
    always={"SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"}, "PreCompact": {"trigger": "auto"}},
)  # fmt: skip


def reply_out(event: Event, decision: Decision) -> Answer:
    return write_reply("qwen", event, decision, _forms)


def _forms(draft: ReplyDraft) -> None:
    if draft.name == "PreToolUse":
        draft.specific |= draft.tool_permission()
    elif draft.name == "PermissionRequest":
        draft.permission()
    elif draft.denies:
        draft.block()
    if draft.event.kind.continues:
        draft.stop()


SYSTEM = HooksFormat(
    dialect="qwen",
    events=EVENTS,
    fields=frozenset({"name", "type", "command", "timeout", "description", "async", "statusMessage", "env", "shell"}),
    kept=("name", "description", "statusMessage", "env", "shell"),
    per_second=1000,
    timeout=60.0,
    switches=("enabled", "disabled", "notifications"),
    group_fields=frozenset({"sequential"}),
    matched=frozenset(
        {
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "SessionStart",
            "SessionEnd", "PreCompact", "PostCompact", "Notification", "SubagentStart", "SubagentStop",
        }
    ),
)  # fmt: skip

_RULES = Rules(deaf_to_two=frozenset({"PermissionRequest"}))


class _QwenDialect(AgentDialect):
    """Hooks of Qwen's settings, and Qwen itself as an agent that calls us."""

    name = "qwen"
    events = EVENTS
    system = SYSTEM
    words = WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        found = {os.path.normpath(os.path.join(home, ".qwen/settings.json")): "user"}
        found.setdefault(os.path.normpath(os.path.join(cwd, ".qwen/settings.json")), "project")
        return tuple(ConfigPlace(path=path, layer=layer, syntax="json") for path, layer in found.items())

    def environ(self, event: Event) -> Mapping[str, str]:
        own = uses_dialect(event.agent, "qwen")
        project = (event.environ.get("QWEN_PROJECT_DIR", "") if own else "") or event.cwd
        return dict.fromkeys(("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), project)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return read(spec, event, raw, _RULES)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


DIALECT = _QwenDialect()
