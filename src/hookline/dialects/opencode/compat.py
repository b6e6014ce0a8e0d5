"""What OpenCode's plugin interface gives, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event

TABLE: Final = Table(
    dialect="opencode",
    system="OpenCode",
    places="none: OpenCode has plugins and no hooks; `hookline deploy` writes a plugin that calls hookline",
    rows=(
        event("tool.execute.before", "PreToolUse."),
        event("tool.execute.after", "PostToolUse; PostToolUseFailure where the exit code is not 0, marked as derived."),
        event("chat.message", "UserPromptSubmit."),
        event("session.created", "SessionStart."),
        event("session.idle", "Stop; it cannot be refused.", "differently"),
        event("session.error", "StopFailure."),
        event("session.compacted", "PostCompact."),
        event("experimental.session.compacting", "PreCompact."),
        event("permission.asked", "Carried; OpenCode asks nobody but the person."),
        event("permission.replied", "Carried."),
        event("dispose", "SessionEnd, without a session."),
        behaviour("a deny", "The plugin throws before the tool runs, and the reason is the tool's result."),
        behaviour("a rewrite", "The plugin puts the new arguments, or the new output, in place."),
        behaviour("context", "Beside the prompt as a part that nobody typed, added to the tool's output, and to what a compaction is told."),
        different("an ask", "OpenCode has no way to be told, so it is a refusal that says so."),
    ),
)  # fmt: skip
