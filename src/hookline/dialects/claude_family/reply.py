"""A decision as JSON that an agent of this family obeys: one writer, and Claude Code's own forms."""

from __future__ import annotations

from collections.abc import Callable

from hookline.core._dataclass import dataclass, field
from hookline.core.event import Event
from hookline.core.fast_json import dumps
from hookline.core.result import Decision
from hookline.core.typed import Any
from hookline.dialects.base import Answer
from hookline.dialects.claude_family.capabilities import CAPABILITIES, Feasible, feasible
from hookline.dialects.claude_family.payload import output_in_shape


@dataclass(slots=True, kw_only=True)
class ReplyDraft:
    """The two objects of an answer while it is written: the outer one, and ``hookSpecificOutput``."""

    event: Event
    decision: Decision
    feasible: Feasible
    top: dict[str, Any] = field(default_factory=dict)
    specific: dict[str, Any] = field(default_factory=dict)
    lost: tuple[str, ...] = ()
    #: Whether text for the model and messages for the person are read in this answer.
    reads_context: bool = True
    shows_messages: bool = True

    @property
    def name(self) -> str:
        return self.event.kind.name

    @property
    def denies(self) -> bool:
        return self.feasible.effect == "deny"

    def block(self, word: str = "block", reason: str = "") -> None:
        self.top |= {"decision": word, "reason": reason or self.feasible.reason}

    def stop(self) -> None:
        """A hook ends the agent for good."""
        if self.decision.attributes.get("continue") is False:
            self.top |= {"continue": False, "stopReason": self.decision.reason or "Stopped by hook"}

    def permission(self, *kept: str) -> None:
        """The answer to a permission request; ``kept`` are further fields that a hook may give."""
        if self.feasible.effect in {"allow", "deny"}:
            message = {"message": self.feasible.reason} if self.denies else {}
            new = {"updatedInput": self.decision.data["tool_input"]} if self.feasible.field else {}
            more = {key: self.decision.attributes[key] for key in kept if key in self.decision.attributes}
            self.specific["decision"] = {"behavior": self.feasible.effect, **message, **new, **more}

    def tool_permission(self) -> dict[str, Any]:
        if self.feasible.effect == "neutral":
            return {}
        return {"permissionDecision": self.feasible.effect, "permissionDecisionReason": self.feasible.reason}


def write_reply(
    dialect: str,
    event: Event,
    decision: Decision,
    forms: Callable[[ReplyDraft], Answer | None],
    *,
    native_name: str = "",
    context_on_top: bool = False,
) -> Answer:
    """Nothing at all is the neutral answer. ``forms`` writes the decision itself, or gives the whole answer."""
    can = CAPABILITIES[dialect]
    possible = feasible(can, event, decision)
    draft = ReplyDraft(event=event, decision=decision, feasible=possible, lost=possible.lost)
    whole = forms(draft)
    if whole is not None:
        return whole
    if draft.shows_messages and (message := decision.message_text):
        draft.top["systemMessage"] = message
    if text := decision.model_text:
        if draft.reads_context and draft.name in can.context:
            (draft.top if context_on_top else draft.specific)["additionalContext"] = text
        else:
            draft.lost = (*draft.lost, "context")
    if draft.specific:
        draft.top["hookSpecificOutput"] = {"hookEventName": native_name or draft.name, **draft.specific}
    return Answer(stdout=to_json(draft.top) if draft.top else "", lost=draft.lost)


def to_json(value: Any) -> str:
    return dumps(value, ensure_ascii=False, default=dict)


def output_as_text(output: Any) -> str:
    return output if isinstance(output, str) else to_json(output)


# ── Claude Code ──────────────────────────────────────────────────────────────────────────────────────

#: A block is ``decision: block`` here; elsewhere it is exit code 2.
_BLOCKED_BY_JSON = frozenset({"UserPromptSubmit", "UserPromptExpansion", "Stop", "SubagentStop", "ConfigChange"})
_NOTHING = Answer()


def reply_out(event: Event, decision: Decision) -> Answer:
    """An allow is only written if a hook decided so."""
    if decision.silent:
        return _NOTHING
    return write_reply("claude", event, decision, _claude)


def _claude(draft: ReplyDraft) -> Answer | None:
    name, decision = draft.name, draft.decision
    # Text at the end of an answer sends Claude Code on as a refusal does, so a hook that always adds text would do
    # so without end: its text counts once in a turn.
    draft.reads_context = draft.denies or not (draft.event.kind.continues and draft.event.data.get("continuations"))
    if draft.denies and name not in _BLOCKED_BY_JSON and name not in {"PreToolUse", "PermissionRequest"}:
        return Answer(stderr=draft.feasible.reason, exit_code=2, lost=draft.lost)
    if draft.denies and name in _BLOCKED_BY_JSON:
        draft.block()
    draft.stop()
    match name:
        case "PreToolUse":
            draft.specific |= draft.tool_permission()
            if draft.feasible.field:
                draft.specific["updatedInput"] = decision.data["tool_input"]
        case "PermissionRequest":
            draft.permission("interrupt", "updatedPermissions")
        case "PostToolUse" if draft.feasible.field:
            # A result of another shape than the tool's own is ignored, and the model reads the original.
            shaped = output_in_shape(draft.event.data.get("tool_response"), decision.data["tool_output"])
            if shaped is None:
                draft.lost = (*draft.lost, "change of tool_output")
            else:
                draft.specific["updatedToolOutput"] = shaped
        case "PreCompact" if not draft.top and not decision.message_text and not decision.model_text.startswith("{"):
            # The text becomes part of the compaction's instructions; an object is refused.
            return Answer(stdout=decision.model_text, lost=draft.lost)
        case _:
            pass
    return None
