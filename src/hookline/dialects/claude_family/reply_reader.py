"""The answer of a hook of this family: its stdout and its exit code."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.event import Event
from hookline.core.hook import HookSpec, Prompt
from hookline.core.result import Context, Effect, HookError, Reply, RunResult
from hookline.dialects.claude_family.payload import as_mapping, as_text, read_object

#: Where plain text on stdout is shown to the model.
_SPOKEN = frozenset({"SessionStart", "UserPromptSubmit", "UserPromptExpansion", "PostModelSwitch"})
#: Where a block comes too late and its reason goes to the model instead.
_FED_BACK = frozenset({"PostToolUse", "PostToolUseFailure", "PostToolBatch"})
_EFFECTS: Mapping[str, Effect] = {"allow": "allow", "deny": "deny", "ask": "ask", "defer": "ask"}
_DECISIONS = ("block", "deny", "approve", "allow")
#: Keys of hookSpecificOutput that have a place of their own in a reply; the others become attributes.
_PLACED = frozenset(
    {
        "hookEventName", "permissionDecision", "permissionDecisionReason", "updatedInput", "updatedToolOutput",
        "updatedMCPToolOutput", "additionalContext", "decision", "systemMessage",
    }
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class Rules:
    """What differs between the systems that read these answers."""

    #: Events on which exit code 2 decides nothing although they can be denied.
    deaf_to_two: frozenset[str] = frozenset()
    #: JSON counts whatever the exit code is, except 2.
    json_on_any_exit: bool = True


def read(spec: HookSpec, event: Event, raw: RunResult, rules: Rules) -> Reply | HookError:
    """Exit 2 blocks and nothing on stdout can take it back; JSON decides; any other failure blocks nothing."""
    stderr = raw.stderr.strip()
    if raw.error or raw.timed_out:
        return HookError(error=raw.error or "timed out")
    if isinstance(raw.value, Reply):
        return raw.value
    answer = dict(raw.value) if isinstance(raw.value, dict) else read_object(raw.stdout)
    if isinstance(spec.action, Prompt):
        return _judged(event, answer)
    if raw.exit_code == 2:
        return _blocked(event, stderr, rules)
    if answer is not None and (rules.json_on_any_exit or not raw.failed):
        return read_answer(event, answer)
    if raw.failed:
        return HookError(error=raw.failure_text(stderr))
    return _plain(event, raw.stdout.strip())


def read_answer(event: Event, answer: Mapping[str, Any]) -> Reply | HookError:
    """The JSON object of an answer."""
    unknown = _unknown_value(event, answer)
    return HookError(error=unknown, reply=_json_reply(event, answer)) if unknown else _json_reply(event, answer)


def _unknown_value(event: Event, answer: Mapping[str, Any]) -> str:
    """A guard that says "denied" for "deny" has not decided, and must not look as if it had no objection."""
    specific = as_mapping(answer.get("hookSpecificOutput"))
    permission = event.kind.name == "PermissionRequest" and isinstance(specific.get("decision"), dict)
    values = (
        ("permissionDecision", specific.get("permissionDecision"), tuple(_EFFECTS)),
        ("decision", answer.get("decision"), _DECISIONS),
        (
            "behavior",
            as_mapping(specific.get("decision")).get("behavior", "") if permission else None,
            ("allow", "deny"),
        ),
    )
    for key, value, known in values:
        if value is not None and value not in known:
            return f"{key} must be one of {', '.join(known)}; got {value!r}"
    return ""


def _plain(event: Event, stdout: str) -> Reply | HookError:
    if stdout.startswith("{"):
        return HookError(error="its output starts like a JSON object but is not valid JSON")
    if stdout and event.kind.name in _SPOKEN:
        return Reply(context=(Context(text=stdout),))
    return Reply()


def _judged(event: Event, answer: Mapping[str, Any] | None) -> Reply | HookError:
    if answer is None or not isinstance(answer.get("ok"), bool):
        return HookError(error='the model did not answer with {"ok": true or false}')
    if answer["ok"]:
        return Reply()
    return refuse(event, as_text(answer.get("reason")).strip() or "Blocked by hook")


def _blocked(event: Event, stderr: str, rules: Rules) -> Reply | HookError:
    name = event.kind.name
    if name in _FED_BACK or (event.kind.deniable and name not in rules.deaf_to_two):
        return refuse(event, stderr or "Blocked by hook")
    return HookError(error=f"exit code 2 decides nothing on {name}{': ' + stderr if stderr else ''}")


def refuse(event: Event, reason: str) -> Reply:
    """A deny; where it comes too late, its reason is for the model."""
    if event.kind.name in _FED_BACK:
        return Reply(context=(Context(text=reason),))
    return Reply(effect="deny", reason=reason)


# ── JSON ─────────────────────────────────────────────────────────────────────────────────────────────


def _json_reply(event: Event, answer: Mapping[str, Any]) -> Reply:
    """Everything in one JSON object; a value of the wrong type does not count."""
    specific = as_mapping(answer.get("hookSpecificOutput"))
    reply = _decided(event, answer, specific)
    context = as_text(specific.get("additionalContext")) or as_text(answer.get("additionalContext"))
    messages = [as_text(one.get("systemMessage")) for one in (answer, specific)]
    attributes = {key: value for key, value in specific.items() if key not in _PLACED}
    if answer.get("continue") is False:
        attributes["continue"] = False
    return replace(
        reply,
        data=_changes(event, specific),
        context=(*reply.context, *((Context(text=context),) if context else ())),
        messages=tuple(message for message in messages if message),
        attributes={**reply.attributes, **attributes},
    )


def _decided(event: Event, answer: Mapping[str, Any], specific: Mapping[str, Any]) -> Reply:
    if answer.get("continue") is False:
        # On Stop this ends the agent for good, which is the opposite of a deny.
        if event.kind.continues or not event.kind.deniable:
            return Reply()
        return Reply(effect="deny", reason=as_text(answer.get("stopReason")) or "Stopped by hook")
    if event.kind.name == "PermissionRequest" and isinstance(specific.get("decision"), dict):
        return _permission(specific["decision"])
    wanted = _EFFECTS.get(as_text(specific.get("permissionDecision")))
    if wanted is not None:
        silent = "Blocked by hook" if wanted == "deny" else ""
        return Reply(effect=wanted, reason=as_text(specific.get("permissionDecisionReason")) or silent)
    reason = as_text(answer.get("reason"))
    match answer.get("decision"):
        case "block" | "deny":
            return refuse(event, reason or "Blocked by hook")
        case "approve" | "allow" if event.kind.name in {"PreToolUse", "PermissionRequest"}:
            return Reply(effect="allow", reason=reason)
        case _:
            return Reply()


def _permission(decision: Mapping[str, Any]) -> Reply:
    effect = {"allow": "allow", "deny": "deny"}.get(as_text(decision.get("behavior")))
    attributes = {key: decision[key] for key in ("interrupt", "updatedPermissions") if key in decision}
    if effect == "deny":
        return Reply(effect="deny", reason=as_text(decision.get("message")) or "Denied by hook", attributes=attributes)
    return Reply(effect="allow" if effect else None, attributes=attributes)


def _changes(event: Event, specific: Mapping[str, Any]) -> dict[str, Any]:
    """``updatedInput`` is the whole new input, not a part of it."""
    changes: dict[str, Any] = {}
    name = event.kind.name
    sources = (specific, as_mapping(specific.get("decision")) if name == "PermissionRequest" else {})
    for source in sources:
        if name in {"PreToolUse", "PermissionRequest"} and isinstance(source.get("updatedInput"), dict):
            changes["tool_input"] = source["updatedInput"]
    if name == "PostToolUse":
        for key in ("updatedMCPToolOutput", "updatedToolOutput"):
            if specific.get(key) is not None:
                changes["tool_output"] = specific[key]
    return changes
