"""The events of Claude Code by name. Apart, because whoever is called by it needs nothing else of its configuration."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

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
