"""Copilot CLI: commands in hooks files of its own, in two spellings, and an agent that calls us."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Context, Decision, Effect, HookError, Reply, RunResult
from hookline.dialects.base import Answer, ConfigPlace, Incoming
from hookline.dialects.claude_family import field_map
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import FieldMap, field_names
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import full_pattern
from hookline.dialects.claude_family.payload import as_mapping, as_text, output_text, read_object, tool_failure
from hookline.dialects.claude_family.render import full_match_text
from hookline.dialects.claude_family.reply import ReplyDraft, output_as_text, write_reply
from hookline.dialects.claude_family.reply_reader import refuse

_CAMEL: Mapping[str, str] = {
    "sessionStart": "SessionStart",
    "sessionEnd": "SessionEnd",
    "userPromptSubmitted": "UserPromptSubmit",
    "preToolUse": "PreToolUse",
    "permissionRequest": "PermissionRequest",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "agentStop": "Stop",
    "subagentStart": "SubagentStart",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
    "notification": "Notification",
    "errorOccurred": "StopFailure",
}

_EVENTS: Mapping[str, str] = MappingProxyType({**_CAMEL, **{name: name for name in _CAMEL.values()}})

#: Copilot's word for how a session began -> ours.
_SOURCES = {"new": "startup"}


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if event == "PostToolUse":
        found |= _result(sent)
    if event == "PostToolUseFailure":
        message = sent.get("error", sent.get("errorMessage"))
        found["tool_error"] = {"type": "error", "message": output_text(message)}
    if event == "SessionStart" and (source := as_text(sent.get("source"))) in _SOURCES:
        found |= {"source": _SOURCES[source], "native_source": source}
    return found


def _result(sent: Mapping[str, Any]) -> dict[str, Any]:
    """A result that is no success has an event of its own for everybody else, so it is derived."""
    result = sent.get("toolResult", sent.get("tool_result"))
    if not isinstance(result, dict):
        return {"tool_output": output_text(result)}
    kind = as_text(result.get("resultType", result.get("result_type", "success")))
    text = output_text(result.get("textResultForLlm", result.get("text_result_for_llm", "")))
    if kind == "success":
        return {"tool_output": text}
    return tool_failure(text, "blocked" if kind in {"denied", "rejected"} else "error")


def _native_fields(event: str, data: Mapping[str, Any]) -> dict[str, Any]:
    if event != "PostToolUse":
        return {}
    return {"toolResult": {"resultType": "success", "textResultForLlm": output_text(data.get("tool_output"))}}


_TOOL = field_names("tool_name:toolName tool_input:toolArgs tool_use_id:toolCallId")

_WORDS = FieldMap(
    dialect="copilot",
    events=_EVENTS,
    frame=field_names("session_id:sessionId timestamp cwd transcript_path:transcriptPath"),
    named_by="hook_event_name",
    cwd_variable="COPILOT_PROJECT_DIR",
    mcp=r"(?P<server>.+)-(?P<tool>[^-]+)",  # none of its own tools has a hyphen
    fields={
        "SessionStart": field_names("source initial_prompt:initialPrompt"),
        "SessionEnd": field_names("reason"),
        "UserPromptSubmit": field_names("prompt"),
        "PreToolUse": _TOOL,
        "PermissionRequest": field_names(
            "tool_name:toolName tool_input:toolInput permission_suggestions:permissionSuggestions"
        ),
        "PostToolUse": _TOOL,
        "PostToolUseFailure": (*_TOOL, ("error", "error")),
        "Stop": field_names("stop_reason:stopReason stop_hook_active"),
        "SubagentStart": field_names("subagent_type:agentName"),
        "SubagentStop": field_names("subagent_type:agentName stop_reason:stopReason stop_hook_active"),
        "PreCompact": field_names("trigger"),
        "Notification": field_names("message notification_type title"),
        "StopFailure": field_names("error"),
    },
    canonical_fields=_canonical_fields,
    native_fields=_native_fields,
)


# ── answers ───────────────────────────────────────────────────────────────────────────────────────────

# The forms that Copilot really obeys are top-level JSON and exit code 0: exit code 2 would block a tool too, but lose
# the reason, and on other events it is only a warning.

_EFFECTS: Mapping[str, Effect] = {"allow": "allow", "deny": "deny", "ask": "ask"}


def _read_reply(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if isinstance(raw.value, Reply):
        return raw.value
    answer = dict(raw.value) if isinstance(raw.value, dict) else read_object(raw.stdout)
    if answer is not None and (not raw.failed or raw.exit_code == 2):
        reply = _json_reply(event, answer, camel=spec.native_event[:1].islower())
        if not raw.failed or reply.effect == "deny":
            return reply
    if not raw.failed:
        return Reply()
    stderr = raw.stderr.strip()
    if event.kind.name == "PreToolUse" and raw.exit_code is not None:
        return refuse(event, stderr or f"hook ended with {raw.failure_text('')}")
    if raw.exit_code == 2 and event.kind.name == "PermissionRequest":
        return refuse(event, stderr or "Denied by hook")
    return HookError(error=raw.failure_text(stderr))


def _json_reply(event: Event, answer: Mapping[str, Any], *, camel: bool) -> Reply:
    # Only the PascalCase spelling reads Claude Code's object, and only before a tool.
    reads_specific = not camel and event.kind.name == "PreToolUse"
    specific = as_mapping(answer.get("hookSpecificOutput")) if reads_specific else {}
    effect, reason = _decision(event, answer, specific)
    context = as_text(answer.get("additionalContext"))
    return Reply(
        effect=effect,
        reason=reason,
        data=_changes(event, answer, specific),
        context=(Context(text=context),) if context else (),
    )


def _decision(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> tuple[Effect | None, str]:
    match event.kind.name:
        case "PreToolUse":
            source = answer if "permissionDecision" in answer else specific
            effect = _EFFECTS.get(as_text(source.get("permissionDecision")))
            reason = as_text(source.get("permissionDecisionReason"))
        case "PermissionRequest":
            effect, reason = _EFFECTS.get(as_text(answer.get("behavior"))), as_text(answer.get("message"))
            effect = effect if effect != "ask" else None
        case "UserPromptSubmit" | "Stop" | "SubagentStop":
            effect = "deny" if answer.get("decision") == "block" else None
            reason = as_text(answer.get("reason"))
        case _:
            return None, ""
    return effect, reason or ("Blocked by hook" if effect == "deny" else "")


def _changes(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> dict[str, Any]:
    match event.kind.name:
        case "PreToolUse":
            new = answer.get("modifiedArgs", specific.get("updatedInput"))
            return {"tool_input": new} if isinstance(new, dict) else {}
        case "UserPromptSubmit":
            prompt = answer.get("modifiedPrompt")
            return {"prompt": prompt} if isinstance(prompt, str) else {}
        case "PostToolUse":
            result = answer.get("modifiedResult")
            return {"tool_output": output_text(result.get("textResultForLlm"))} if isinstance(result, dict) else {}
        case _:
            return {}


def _forms(draft: ReplyDraft) -> None:
    draft.shows_messages = False
    decision, effect = draft.decision, draft.feasible.effect
    match draft.name:
        case "PreToolUse":
            _before_tool(draft)
        case "PermissionRequest" if effect in {"allow", "deny"}:
            draft.top |= {"behavior": effect, **({"message": draft.feasible.reason} if draft.denies else {})}
        case _ if draft.denies:
            draft.block()
        case "UserPromptSubmit" if draft.feasible.field:
            draft.top["modifiedPrompt"] = decision.data["prompt"]
        case "PostToolUse" if draft.feasible.field:
            text = output_as_text(decision.data["tool_output"])
            draft.top["modifiedResult"] = {"resultType": "success", "textResultForLlm": text}
        case _:
            pass


def _before_tool(draft: ReplyDraft) -> None:
    permission = draft.tool_permission()
    draft.top |= permission
    new = draft.decision.data["tool_input"] if draft.feasible.field else None
    if not draft.event.native_name[:1].isupper():
        draft.top |= {} if new is None else {"modifiedArgs": new}
    elif permission or new is not None:
        draft.specific |= permission | ({} if new is None else {"updatedInput": new})


# ── the hooks files ───────────────────────────────────────────────────────────────────────────────────


_SYSTEM = HooksFormat(
    dialect="copilot",
    pattern=full_pattern,
    pattern_text=full_match_text,
    events=_EVENTS,
    fields=frozenset({"type", "bash", "command", "powershell", "timeoutSec", "timeout", "cwd", "env", "comment", "matcher"}),
    kept=("powershell", "cwd", "env", "comment"),
    timeout=30.0,
    shape="flat",
    names={"command": "bash", "timeout": "timeoutSec"},
    head={"version": 1},
    matched=frozenset(
        name for name, canonical in _EVENTS.items()
        if canonical in {"PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest"}
    ),
)  # fmt: skip


class _CopilotDialect(AgentDialect):
    name = "copilot"
    events = _EVENTS
    system = _SYSTEM
    words = _WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        """Copilot reads every file of two directories; a list of directories is not known here, so one name is."""
        user = os.path.normpath(os.path.join(home, ".copilot/hooks/hooks.json"))
        project = os.path.normpath(os.path.join(cwd, ".github/hooks/hooks.json"))
        return (
            ConfigPlace(path=user, layer="user", syntax="json"),
            ConfigPlace(path=project, layer="project", syntax="json"),
        )

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        """The name comes with the call: a camelCase payload has none."""
        came = field_map.event_in(self.words, name, payload, environ)
        return replace(came, native_name=name) if name else came

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return _read_reply(spec, event, raw)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        """Messages go to stderr, which Copilot keeps in its log."""
        # Under both spellings additionalContext is read at the top only; Claude Code's place for it is passed over.
        answer = write_reply("copilot", event, decision, _forms, context_on_top=True)
        return replace(answer, stderr=decision.message_text)


DIALECT = _CopilotDialect()
