"""Codex CLI: commands in hooks.json, a strict reader of their answers, and an agent that calls us."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import FieldMap, event_table, field_names
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.payload import after_tool, result_fields
from hookline.dialects.claude_family.reply_reader import Rules
from hookline.dialects.claude_family.reply_table import (
    BLOCK,
    CONTEXT,
    END,
    EXIT_2,
    MESSAGE,
    PERMISSION_DENY,
    REQUEST_ALLOW,
    REQUEST_DENY,
    Replies,
    on,
    specific,
)

_EVENTS = event_table(
    "codex",
    "SessionStart SessionEnd UserPromptSubmit PreModelRequest PostModelRequest PreToolUse PermissionRequest PostToolUse"
    " PreCompact PostCompact SubagentStart SubagentStop Stop Interrupt",
)

_TOOL = "tool_name tool_input tool_use_id"
_SUBAGENT = "subagent_id:agent_id subagent_type:agent_type agent_transcript_path"


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found = after_tool(event, sent)
    usage = sent.get("token_usage")
    if event == "PostModelRequest" and isinstance(usage, dict):
        names_of = {"input": "input_tokens", "cached": "cached_input_tokens", "output": "output_tokens",
                    "total": "total_tokens"}  # fmt: skip
        found["tokens"] = {ours: usage.get(theirs, 0) for ours, theirs in names_of.items()}
    if event == "UserPromptSubmit" and sent.get("agent_id"):
        # A subagent's task comes as a prompt that nobody typed.
        found["auto_submit"] = True
    return found


_WORDS = FieldMap(
    dialect="codex",
    events=_EVENTS,
    frame=field_names("session_id turn_id transcript_path cwd model permission_mode agent_id agent_type"),
    fields={
        "SessionStart": field_names("source"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "PreModelRequest": (),
        "PostModelRequest": field_names("status error token_usage"),
        "PreToolUse": field_names(_TOOL),
        "PermissionRequest": field_names("tool_name tool_input"),
        "PostToolUse": field_names(_TOOL + " tool_response"),
        "PreCompact": field_names("trigger"),
        "PostCompact": field_names("trigger"),
        "SubagentStart": field_names(_SUBAGENT),
        "SubagentStop": field_names(_SUBAGENT + " stop_hook_active assistant_message:last_assistant_message"),
        "Stop": field_names("stop_hook_active assistant_message:last_assistant_message"),
        "Interrupt": (),
    },
    canonical_fields=_canonical_fields,
    native_fields=result_fields,
    always={
        "SessionStart": {"source": "startup"}, "SessionEnd": {"reason": "other"}, "PreCompact": {"trigger": "auto"},
        "PostCompact": {"trigger": "auto"},
    },
)  # fmt: skip


_REPLIES = Replies(
    agent="Codex",
    deny={
        "PreToolUse": PERMISSION_DENY, "PermissionRequest": REQUEST_DENY, "UserPromptSubmit": EXIT_2,
        **on("Stop SubagentStop", BLOCK),
    },
    allow={"PermissionRequest": REQUEST_ALLOW},
    rewrite={
        # A rewrite is only read together with an allow; an allow alone is not read at all.
        "PreToolUse": specific(permissionDecision="allow", updatedInput="{value}"),
        "PostToolUse": {"decision": "block", "reason": "{text}"},
    },
    output_as_reason=True,
    context=on("PreToolUse PostToolUse SessionStart UserPromptSubmit SubagentStart", CONTEXT),
    message=MESSAGE, quiet=frozenset({"PreModelRequest", "PostModelRequest", "SessionEnd", "Interrupt"}), end=END,
)  # fmt: skip


_SYSTEM = HooksFormat(
    dialect="codex",
    events=_EVENTS,
    fields=frozenset({"type", "command", "commandWindows", "timeout", "async", "statusMessage", "additionalContextLimit"}),
    kept=("commandWindows", "statusMessage", "additionalContextLimit"),
    timeout=600.0,
    event_timeouts={"SessionEnd": 1.0},
    matched=frozenset({"PreToolUse", "PostToolUse", "PermissionRequest", "SessionStart", "PreCompact", "PostCompact"}),
)  # fmt: skip


class _CodexDialect(AgentDialect):
    name = "codex"
    events = _EVENTS
    system = _SYSTEM
    words = _WORDS
    #: Codex decides a permission by JSON alone, and reads JSON only from a hook that ended well.
    rules = Rules(deaf_to_two=frozenset({"PermissionRequest"}), json_on_any_exit=False)
    replies = _REPLIES

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        """As Claude Code's, but a block without a reason is a hook that failed."""
        if raw.exit_code == 2 and not raw.error and not raw.stderr.strip():
            return HookError(error="exit code 2 without a reason on stderr, which Codex takes for a failure")
        return super().reply_in(spec, event, raw)


DIALECT = _CodexDialect()
