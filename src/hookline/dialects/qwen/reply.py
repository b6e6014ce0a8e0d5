"""Our decision in the forms that Qwen really obeys: Claude Code's, without the rewrites it reads and then forgets."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.dialects.claude_family.reply import write_reply

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.dialects.base import Answer
    from hookline.dialects.claude_family.reply import ReplyDraft


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
