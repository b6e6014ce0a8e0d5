"""Letta Code's document, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

TABLE: Final = Table(
    dialect="letta",
    system="Letta Code",
    places="`~/.letta/settings.json`, `.letta/settings.json`, `.letta/settings.local.json`; the local hooks run first",
    rows=(
        field("hooks", "The top-level object, and the list inside a group."),
        field("matcher", "A full-match JavaScript expression on the tool's name; `*`, empty or absent for all; ignored on other events. What is no expression is a literal, and a problem."),
        field("type", "command or prompt; a hook with a command and no type is a command."),
        field("command", "Run by the login shell, else by the first usual shell there is, with `-c`."),
        field("timeout", "Milliseconds; 60,000 for a command, 30,000 for a prompt. A bad value is a problem and the default holds."),
        field("prompt", "`$ARGUMENTS` is the event; without it the event is appended."),
        field("model"),
        field("quiet", "Read and kept for convert. It only concerns Letta Code's own console, which is not here.", "no"),
        field("disabled", "The user's word is final; without one, either project file may switch hooks off."),
        event("PreToolUse", "Exit 2 refuses; `updatedInput` is merged into the input."),
        event("PostToolUse", "Only after success. Exit 2 feeds stderr back."),
        event("PostToolUseFailure", "stderr is fed back whatever the exit code; not for a call that a hook refused."),
        event("PermissionRequest", "Exit 2 denies."),
        event("UserPromptSubmit", "Exit 2 refuses, stdout is context; not for slash commands."),
        event("Notification"),
        event("Stop", "Exit 2 sends the agent on with stderr."),
        event("SubagentStop", "Exit 2 sends the subagent on with stderr."),
        event("PreCompact", "Never blocks."),
        event("SessionStart", "stdout is context, whatever the exit code."),
        event("SessionEnd"),
        behaviour("exit codes 0, 1 and 2", "0 proceeds, 2 blocks, anything else is a failure that blocks nothing."),
        behaviour("additionalContext", "Nested or top level, after tools."),
        behaviour("payload fields per event", "With Letta Code's names, on one line of stdin."),
        behaviour("LETTA_* variables", "LETTA_HOOK_EVENT, LETTA_WORKING_DIR, USER_CWD, LETTA_AGENT_ID, AGENT_ID; stale ones of the caller are unset."),
        behaviour("prompt hooks on events without them", "A problem, and the hook does not load."),
        different("two hooks that rewrite one input", "Law 2: the second sees what the first left, and the later one wins. Letta Code gives both the same payload and lets the first win."),
        different("PermissionRequest with exit 0", "Neutral: granting must be said, with `decision.behavior` or `permissionDecision` allow. A hook that only watches must not open the door."),
        different("Stop and SubagentStop", "A loop guard lets the agent stop after 8 continuations in one turn (`limits.stop_continuations`)."),
        different("a project `disabled: true` under a user `false`", "The user's word holds; Letta Code throws on every firing."),
        different("a broken group or hook", "Is a problem, and the others of the event run; Letta Code loses the whole event."),
        different("timeouts", "Bind the whole process group; Letta Code waits for a grandchild that holds the pipes."),
        different("an allowing prompt hook", "Says nothing to the agent; Letta Code injects the model's answer into the prompt."),
        different("a failed prompt hook", "Is a failure in the record, told apart from an allow."),
    ),
)  # fmt: skip
