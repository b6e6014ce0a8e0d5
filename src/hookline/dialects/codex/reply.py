"""Our decision in the forms that Codex really obeys.

Its reader is strict: an unknown field, a deny without a reason, a bare allow or an ask make the whole answer void,
and then the tool runs. So nothing is said here that was not seen to be obeyed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.dialects.base import Answer
from hookline.dialects.claude_family.reply import output_as_text, write_reply

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.result import Decision
    from hookline.dialects.claude_family.reply import ReplyDraft

#: Where a block is top-level JSON.
_BLOCKED_BY_JSON = frozenset({"Stop", "SubagentStop"})
_SILENT = frozenset({"PreModelRequest", "PostModelRequest", "SessionEnd", "Interrupt"})


def reply_out(event: Event, decision: Decision) -> Answer:
    return write_reply("codex", event, decision, _forms)


def _forms(draft: ReplyDraft) -> Answer | None:
    name, decision = draft.name, draft.decision
    draft.reads_context, draft.shows_messages = not draft.denies, name not in _SILENT
    if draft.denies and name == "UserPromptSubmit":
        return Answer(stderr=draft.feasible.reason, exit_code=2, lost=draft.lost)
    if draft.denies and name in _BLOCKED_BY_JSON:
        draft.block()
    elif draft.feasible.field == "tool_output":
        draft.block(reason=output_as_text(decision.data["tool_output"]))
    elif name in _BLOCKED_BY_JSON:
        draft.stop()
    if name == "PermissionRequest":
        draft.permission()
    elif name == "PreToolUse" and draft.denies:
        draft.specific |= draft.tool_permission()
    elif name == "PreToolUse" and draft.feasible.field:
        # A rewrite is only read together with an allow; an allow alone is not read at all.
        draft.specific |= {"permissionDecision": "allow", "updatedInput": decision.data["tool_input"]}
    return None
