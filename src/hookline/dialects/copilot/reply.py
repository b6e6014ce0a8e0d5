"""Our decision in the forms that Copilot really obeys: top-level JSON and exit code 0.

Exit code 2 would block a tool too, but lose the reason; on other events it is only a warning.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import replace
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import Context, Decision, Effect, HookError, Reply, RunResult
from hookline.dialects.base import Answer
from hookline.dialects.claude_family.payload import output_text, read_object
from hookline.dialects.claude_family.reply import ReplyDraft, output_as_text, write_reply
from hookline.dialects.claude_family.reply_reader import refuse

_EFFECTS: Mapping[str, Effect] = {"allow": "allow", "deny": "deny", "ask": "ask"}


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if isinstance(raw.value, Reply):
        return raw.value
    answer = dict(raw.value) if isinstance(raw.value, dict) else read_object(raw.stdout)
    failed = raw.exit_code not in {0, None} or raw.signal is not None
    if answer is not None and (not failed or raw.exit_code == 2):
        reply = _spoken(event, answer, camel=spec.native_event[:1].islower())
        if not failed or reply.effect == "deny":
            return reply
    if not failed:
        return Reply()
    what = f"exit code {raw.exit_code}" if raw.exit_code is not None else f"ended by signal {raw.signal}"
    stderr = raw.stderr.strip()
    if event.kind.name == "PreToolUse" and raw.exit_code is not None:
        return refuse(event, stderr or f"hook ended with {what}")
    if raw.exit_code == 2 and event.kind.name == "PermissionRequest":
        return refuse(event, stderr or "Denied by hook")
    return HookError(error=f"{what}: {stderr}" if stderr else what)


def _spoken(event: Event, answer: Mapping[str, Any], *, camel: bool) -> Reply:
    told = answer.get("hookSpecificOutput")
    # Only the PascalCase spelling reads Claude Code's object, and only before a tool.
    specific = told if isinstance(told, dict) and not camel and event.kind.name == "PreToolUse" else {}
    effect, reason = _decision(event, answer, specific)
    context = _text(answer.get("additionalContext"))
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
            effect = _EFFECTS.get(_text(source.get("permissionDecision")))
            reason = _text(source.get("permissionDecisionReason"))
        case "PermissionRequest":
            effect, reason = _EFFECTS.get(_text(answer.get("behavior"))), _text(answer.get("message"))
            effect = effect if effect != "ask" else None
        case "UserPromptSubmit" | "Stop" | "SubagentStop":
            effect = "deny" if answer.get("decision") == "block" else None
            reason = _text(answer.get("reason"))
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


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def reply_out(event: Event, decision: Decision) -> Answer:
    """Messages go to stderr, which Copilot keeps in its log."""
    # Under both spellings additionalContext is read at the top only; Claude Code's place for it is passed over.
    answer = write_reply("copilot", event, decision, _forms, context_on_top=True)
    return replace(answer, stderr=decision.message_text)


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
