"""Our decision in the forms that Gemini really obeys: ``decision: deny`` everywhere, and its own names inside."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.dialects.claude_family.reply import output_as_text, write_reply
from hookline.dialects.gemini.fields import EVENTS

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.dialects.base import Answer
    from hookline.dialects.claude_family.reply import ReplyDraft

_NATIVE = {canonical: native for native, canonical in EVENTS.items()} | {"PostToolUseFailure": "AfterTool"}


def reply_out(event: Event, decision: Decision) -> Answer:
    return write_reply("gemini", event, decision, _forms, native_name=_NATIVE.get(event.kind.name, ""))


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
