"""Claude Code's hooks, and Claude Code as an agent that calls us."""

from __future__ import annotations

from collections.abc import Mapping

from hookline.dialects.base import Dialect, DialectBase, Syntax, part

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


class _ClaudeDialect(DialectBase):
    """Hooks of Claude Code's settings files, and Claude Code itself as an agent that calls us."""

    name = "claude"
    syntax: Syntax = "json"
    events: Mapping[str, str] = EVENTS

    places = part("hookline.dialects.claude.config:places")
    parse = part("hookline.dialects.claude.config:parse")
    render = part("hookline.dialects.claude.render:render")
    event_out = part("hookline.dialects.claude.wire:event_out")
    reply_in = part("hookline.dialects.claude.wire:reply_in")
    event_in = part("hookline.dialects.claude_family.payload:event_in")
    reply_out = part("hookline.dialects.claude_family.reply:reply_out")


DIALECT: Dialect = _ClaudeDialect()
