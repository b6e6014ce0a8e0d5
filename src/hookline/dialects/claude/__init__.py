"""Claude Code: commands, prompts and requests that decide, rewrite or add context, in layered JSON settings."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.dialects.base import module_dialect

EVENTS: Mapping[str, str] = {
    name: name
    for name in (
        "PreToolUse", "PostToolUse", "PostToolUseFailure", "PostToolBatch", "PermissionRequest", "PermissionDenied",
        "UserPromptSubmit", "UserPromptExpansion", "SessionStart", "SessionEnd", "Setup", "Stop", "StopFailure",
        "SubagentStart", "SubagentStop", "PreCompact", "PostCompact", "PreModelSwitch", "PostModelSwitch",
        "Notification", "MessageDisplay", "TeammateIdle", "TaskCreated", "TaskCompleted", "Elicitation",
        "ElicitationResult", "ConfigChange", "WorktreeCreate", "WorktreeRemove", "InstructionsLoaded", "CwdChanged",
        "DirectoryAdded", "FileChanged",
    )
}  # fmt: skip

DIALECT = module_dialect(
    "claude",
    "json",
    EVENTS,
    {
        "claude.config": "places parse render",
        "claude.wire": "event_out reply_in",
        "claude_family.payload": "event_in",
        "claude_family.reply": "reply_out",
    },
    elsewhere=("skills/*/SKILL.md", "agents/*.md"),
)
