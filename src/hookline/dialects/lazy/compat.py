"""lazy-harness's document, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

TABLE: Final = Table(
    dialect="lazy",
    system="lazy-harness",
    places="`config.toml` in `$LH_CONFIG_DIR`, else in `$XDG_CONFIG_HOME/lazy-harness`, else in `~/.config/lazy-harness`",
    rows=(
        field("scripts", "Names: built in first, then `hooks/` beside the file, then the user's hook directories of lazy-harness and of hookline. An unknown name is a problem."),
        field("external", "Commands as text, or as a table with a matcher; they run after the scripts."),
        field("allow_patterns", "Read and kept for convert; it configures a built-in guard that is not here.", "no"),
        field("command", "Of a table in external: a line for bash."),
        field("matcher", "Of a table in external: names like `Edit|Write`, or a regular expression."),
        event("session_start", "SessionStart."),
        event("session_stop", "Stop, after every turn."),
        event("session_end", "SessionEnd."),
        event("pre_compact", "PreCompact."),
        event("post_compact", "PostCompact."),
        event("pre_tool_use", "PreToolUse, for Bash unless the hook has its own matcher."),
        event("post_tool_use", "PostToolUse and PostToolUseFailure, for `Edit|Write` unless the hook has its own matcher."),
        event("notification", "Notification."),
        event("user_prompt_submit", "UserPromptSubmit."),
        event("permission_request", "PermissionRequest."),
        behaviour("payload on stdin, `hookSpecificOutput` out", "Claude Code's shapes, since that is the agent these hooks are deployed into."),
        behaviour("no hook cancels the ones after it", "Also after a deny."),
        behaviour("exit 2 is a deliberate block", "Any other failure is recorded and decides nothing."),
        behaviour("the built-ins context-inject, pre-compact, session-export, compound-loop, session-end", "For every agent, not only for Claude Code."),
        behaviour("`[knowledge]`, `[compound_loop]`, `[context_inject]`, `[lazynorth]`, `[profiles]`", "Settings of the built-ins; hookline.toml may say them too, and wins."),
        different("`config.toml`", "Counts without being named in a source; one beside hookline.toml comes first."),
        different("memory", "In `memory/<project>/` of the knowledge path, by repository; what lies beside the agent's transcripts is read."),
        different("context-inject", "Subdirectories and worktrees find their project's last session; a note is a project's by its repository, not by a part of its text."),
        different("pre-compact", "Reads every agent's transcripts. Claude Code is given the text itself: it refuses an object before a compaction."),
        different("`context_inject.enabled`, `knowledge.sessions.enabled`", "Switch off what they name; in lazy-harness they switch off less, or nothing."),
        different("`lh deploy`", "`hookline deploy` registers these hooks, built in and the user's own, with every agent that is installed."),
        different("a script without an ending", "Runs by its shebang; lazy-harness gives it to Python."),
        different("`[hooks.EVENT]` with only allow_patterns", "Adds no hook and takes none away."),
        different("timeouts", "60 s per hook; lazy-harness leaves it to the agent."),
    ),
)  # fmt: skip
