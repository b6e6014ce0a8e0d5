"""The hooks of Codex's hooks.json, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

TABLE: Final = Table(
    dialect="codex",
    system="Codex CLI",
    places="`hooks.json` in `$CODEX_HOME` or `~/.codex`, `.codex/hooks.json`",
    rows=(
        field("hooks", "The top-level object, and the list inside a group."),
        field("matcher", "A list of names, or a regular expression that is searched for; `*` or empty for all."),
        field("type", "command. mcp_tool, prompt and agent are problems, and the hook does not load.", "differently"),
        field("command", "A line for bash."),
        field("commandWindows", "Read and kept for convert.", "no"),
        field("timeout", "Seconds; 600, and 1 on SessionEnd."),
        field("async", "Runs in the background and is awaited before hookline ends."),
        field("statusMessage", "Read and kept for convert; there is no status line here.", "no"),
        field("additionalContextLimit", "Read and kept for convert, not obeyed.", "no"),
        event("SessionStart", "The matcher is tried on the source. stdout is context."),
        event("SessionEnd"),
        event("UserPromptSubmit", "stdout is context. A subagent's task is marked as not typed."),
        event("PreModelRequest", "Carried; what Codex does with a block there was not seen, so none is sent to it."),
        event("PostModelRequest", "Its token use is found under `tokens` as well."),
        event("PreToolUse", "The matcher is tried on the tool's name; `apply_patch` answers to Edit and Write."),
        event("PermissionRequest", "Decided by JSON alone."),
        event("PostToolUse", "Codex also sends it after a command that failed, and does not say so."),
        event("PreCompact"),
        event("PostCompact"),
        event("SubagentStart"),
        event("SubagentStop"),
        event("Stop", "A block sends the agent on."),
        event("Interrupt"),
        behaviour("exit 2 without a reason", "A failure, as in Codex."),
        behaviour("JSON", "Counts only with exit code 0."),
        behaviour("Codex as the agent: deny", "permissionDecision deny before a tool, exit code 2 on a prompt, decision block on Stop; always with a reason."),
        behaviour("Codex as the agent: rewrites", "updatedInput, together with the allow that Codex wants to see; another tool output takes the place of the first."),
        different("Codex as the agent: ask", "Codex would run the tool, so an ask is a refusal that says so."),
        different("Codex as the agent: allow", "Said only to a permission request: before a tool Codex has no use for it."),
        different("unknown fields of an answer", "Codex voids the whole answer; here they are ignored."),
        different("Stop and SubagentStop", "Codex has no limit; here a loop guard lets the agent stop after 8 continuations."),
        different("inline hooks in config.toml, plugins, managed hooks, trust", "Only hooks.json is read; hookline's own trust applies."),
    ),
)  # fmt: skip
