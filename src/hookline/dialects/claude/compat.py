"""The hooks of Claude Code's settings, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

_MATCHER = "The matcher is tried on {}."

TABLE: Final = Table(
    dialect="claude",
    system="Claude Code",
    places="`settings.json` in `$CLAUDE_CONFIG_DIR` or `~/.claude`, `.claude/settings.json`, `.claude/settings.local.json`",
    rows=(
        # ── fields ───────────────────────────────────────────────────────────────────────────────────
        field("hooks", "The top-level object, and the list inside a group."),
        field("disableAllHooks", "The last file that says it."),
        field("matcher", "A list of names, or a regular expression that is searched for; `*` or empty for all."),
        field("type", "command, prompt and http. agent and mcp_tool are problems, and the hook does not load.", "differently"),
        field("command", "A line for bash; with args, a program."),
        field("args", "No shell; `${CLAUDE_PROJECT_DIR}` is filled in."),
        field("shell", "bash or powershell."),
        field("async", "Runs in the background and is awaited before hookline ends."),
        field("asyncRewake", "Runs in the background; a late exit 2 wakes nobody, and a warning says so.", "no"),
        field("if", "One rule such as `Bash(git *)`, `Edit(src/**)` or `WebFetch(domain:…)`. Where a rule cannot be followed exactly, the hook runs once too often rather than once too little."),
        field("timeout", "Seconds; 600 for a command, 30 for a prompt, and what an event has of its own."),
        field("once", "Read and kept for convert, not obeyed: the hook runs every time.", "no"),
        field("statusMessage", "Read and kept for convert; there is no status line here.", "no"),
        field("prompt"),
        field("model"),
        field("continueOnBlock", "Read and kept for convert, not obeyed.", "no"),
        field("url"),
        field("headers", "`$NAME` is taken from the environment."),
        field("allowedEnvVars", "Read and kept for convert, not obeyed: a header may name any variable.", "no"),
        # ── events ───────────────────────────────────────────────────────────────────────────────────
        event("PreToolUse", _MATCHER.format("the tool's name")),
        event("PostToolUse", _MATCHER.format("the tool's name")),
        event("PostToolUseFailure", "Not for a call that a hook refused."),
        event("PostToolBatch"),
        event("PermissionRequest", "Decided by JSON alone: exit 2 is a failure here, as in Claude Code."),
        event("PermissionDenied"),
        event("UserPromptSubmit", "30 s. stdout is context."),
        event("UserPromptExpansion", "stdout is context."),
        event("SessionStart", _MATCHER.format("the source") + " stdout is context."),
        event("SessionEnd", _MATCHER.format("the reason")),
        event("Setup", _MATCHER.format("the trigger")),
        event("Stop", "`continue: false` ends the agent; a block sends it on."),
        event("StopFailure", _MATCHER.format("the error")),
        event("SubagentStart", _MATCHER.format("the subagent's type")),
        event("SubagentStop", _MATCHER.format("the subagent's type")),
        event("PreCompact", "Cannot be blocked: an event means the same for the hooks of all systems, and for Letta Code it never blocks.", "differently"),
        event("PostCompact"),
        event("PreModelSwitch"),
        event("PostModelSwitch", "stdout is context."),
        event("Notification", _MATCHER.format("the notification's type")),
        event("MessageDisplay", "10 s."),
        event("TeammateIdle"),
        event("TaskCreated"),
        event("TaskCompleted"),
        event("Elicitation", _MATCHER.format("the server's name")),
        event("ElicitationResult"),
        event("ConfigChange", _MATCHER.format("the source")),
        event("WorktreeCreate"),
        event("WorktreeRemove"),
        event("InstructionsLoaded", _MATCHER.format("the reason of loading")),
        event("CwdChanged"),
        event("DirectoryAdded"),
        event("FileChanged", _MATCHER.format("the file's path")),
        # ── what it does ─────────────────────────────────────────────────────────────────────────────
        behaviour("exit codes", "0: the answer counts; 2: block, and nothing on stdout takes it back; others: a failure that blocks nothing."),
        behaviour("permissionDecision allow, deny, ask", "defer is read as ask."),
        behaviour("decision block, reason", "After a tool the reason is for the model."),
        behaviour("continue, stopReason, systemMessage, additionalContext"),
        behaviour("updatedInput, updatedToolOutput", "The whole new value, not a part of it."),
        behaviour("other keys of hookSpecificOutput", "Kept as attributes of the decision."),
        behaviour("CLAUDE_PROJECT_DIR", "In the environment of every command."),
        behaviour("the same hook in two files", "Runs once."),
        different("hooks that decide run in order", "Claude Code starts all hooks of an event at once. Here PreToolUse, PermissionRequest, UserPromptSubmit, Stop and SubagentStop are chains, so that a second rewrite builds on the first; all of them run, also after a deny."),
        different("Stop and SubagentStop", "A loop guard lets the agent stop after 8 continuations in one turn (`limits.stop_continuations`)."),
        different("async hooks", "Are awaited before hookline ends; their answer comes too late to count."),
        different("plugins, skills and managed policy", "Only the three settings files are read."),
    ),
)  # fmt: skip
