"""The hooks of Qwen's settings, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

TABLE: Final = Table(
    dialect="qwen",
    system="Qwen Code",
    places="`~/.qwen/settings.json`, `.qwen/settings.json`",
    rows=(
        field("hooks", "The top-level object, and the list inside a group."),
        field("matcher", "A list of names, or a regular expression that is searched for; `*` or empty for all."),
        field("sequential", "Hooks that decide always run in order here.", "differently"),
        field("name", "The hook's name."),
        field("type", "command. http, prompt and function are problems, and the hook does not load.", "differently"),
        field("command", "A line for bash."),
        field("timeout", "Milliseconds; 60,000."),
        field("async", "Runs in the background and is awaited before hookline ends."),
        field("description", "Read and kept for convert."),
        field("statusMessage", "Read and kept for convert.", "no"),
        field("env", "Read and kept for convert, not set.", "no"),
        field("shell", "Read and kept for convert; bash is used.", "no"),
        event("SessionStart", "stdout is context."),
        event("SessionEnd"),
        event("SessionDelete", "Carried."),
        event("UserPromptSubmit", "stdout is context. What Qwen submits itself is marked as not typed."),
        event("UserPromptExpansion"),
        event("PreToolUse", "The matcher is tried on both names of the tool."),
        event("PostToolUse"),
        event("PostToolUseFailure", "Not for a call that a hook refused."),
        event("PostToolBatch"),
        event("PermissionRequest"),
        event("PermissionDenied"),
        event("Notification"),
        event("MessageDisplay"),
        event("Stop", "A block sends the agent on."),
        event("StopFailure"),
        event("SubagentStart"),
        event("SubagentStop"),
        event("TodoCreated", "TaskCreated."),
        event("TodoCompleted", "TaskCompleted."),
        event("PreCompact"),
        event("PostCompact"),
        event("InstructionsLoaded"),
        behaviour("answers", "As Claude Code's."),
        behaviour("Qwen Code as the agent: deny and ask", "permissionDecision before a tool, decision block on a prompt and on Stop."),
        different("Qwen Code as the agent: a rewrite before a tool", "Qwen reads it and runs the old command, so this is a refusal that says so."),
        different("Qwen Code as the agent: context before a tool", "Reaches no request; it is reported as lost."),
    ),
)  # fmt: skip
