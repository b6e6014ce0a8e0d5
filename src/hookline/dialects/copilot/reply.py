"""Our decision in the forms that Copilot really obeys: top-level JSON and exit code 0.

Exit code 2 would block a tool too, but lose the reason; on other events it is only a warning.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core._dataclass import replace
from hookline.dialects.claude_family.reply import output_as_text, write_reply

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.dialects.base import Answer
    from hookline.dialects.claude_family.reply import ReplyDraft


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
