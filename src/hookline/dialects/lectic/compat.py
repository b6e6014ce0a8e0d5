"""Lectic's document, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

_ALIAS = "An alias of {}: runs after all hooks of the event itself."

TABLE: Final = Table(
    dialect="lectic",
    system="Lectic",
    places="`lectic.yaml` in Lectic's configuration directory, then the nearest `lectic.yaml` from the working "
    "directory upwards; any `.yaml` or `.lec` file that is named",
    rows=(
        # ── the nine fields of a hook ────────────────────────────────────────────────────────────────
        field("on", "One name or a list. An unknown name is a problem; the known ones of the list still fire."),
        field("do", "One line is a command, several lines are a script that begins with a shebang."),
        field("inline", "Only on user_message, assistant_message and their aliases; elsewhere the text is dropped."),
        field("inline_as", "attachment or comment."),
        field("name", "Also the key for overriding: the fields of a later layer are laid over the earlier hook's."),
        field("icon", "An attribute of an attachment."),
        field("env", "Scalars become text; `use: NAME` takes an entry of env_defs."),
        field("allow_failure"),
        field("mode", "sync, background or detached."),
        # ── where hooks can stand ────────────────────────────────────────────────────────────────────
        field("use", "`{use: NAME}` in a list of hooks, and as `env`."),
        field("hooks", "At the top, in an interlocutor and in a tool."),
        field("hook_defs"),
        field("env_defs"),
        field("interlocutor", "Its hooks run only while it speaks; it speaks when an event names nobody."),
        field("interlocutors"),
        field("tools", "A tool's hooks hear tool_use_pre and tool_use_post of that tool; other events there are a warning."),
        field("kits", "Tools of a kit count where the kit is named."),
        field("imports", "Paths, directories, `{path, optional}` and `{plugin, optional}`."),
        # ── the ten events ───────────────────────────────────────────────────────────────────────────
        event("user_message", "UserPromptSubmit."),
        event("user_first", _ALIAS.format("user_message")),
        event("assistant_message", "AssistantMessage. The conversation is on stdin, front matter included."),
        event("assistant_final", _ALIAS.format("assistant_message")),
        event("assistant_intermediate", _ALIAS.format("assistant_message")),
        event("tool_use_pre", "PreToolUse. Non-zero refuses the call, with stderr in the reason."),
        event("tool_use_post", "PostToolUse and PostToolUseFailure, also for a call that was refused."),
        event("run_start", "RunStart."),
        event("run_end", "RunEnd. Background hooks are awaited first."),
        event("error", _ALIAS.format("run_end")),
        # ── what it does ─────────────────────────────────────────────────────────────────────────────
        behaviour("variables of each event", "The names of the document. One that does not apply is unset, even if the caller has one."),
        behaviour("LECTIC_CONFIG, _DATA, _CACHE, _STATE, _TEMP", "The caller's values, else Lectic's defaults for the platform."),
        behaviour("`LECTIC:KEY[:VALUE]` headers", "final, reset and any other key; they become attributes."),
        behaviour("a failure outside tool_use_pre aborts the run", "The decision has `aborted`, and its effect is deny."),
        behaviour("inline output of an allowed failure is recorded"),
        behaviour("detached scripts are not cleaned up"),
        different("timeouts", "A hook that is waited for gets 600 s: Lectic lets a hook hang for ever. A detached one has no limit."),
        different("single quotes in a command", "Their content is not expanded, as in every shell."),
        different("`sh -c CODE` in a command", "CODE is not expanded before the shell sees it: the shell takes the variables from its environment, so that text of a model never becomes shell source."),
        different("quotes inside a word", '`--text="Allow $TOOL_NAME?"` is one word, as the document\'s own example needs; Lectic knows quotes only at the start of a word.'),
        different("`~/` at the start of a word", "The home directory, as the document's own examples need; Lectic does not expand it."),
        different("a block scalar of one line", "`do: |` with one line is a command; Lectic takes it for a script and demands a shebang."),
        different("over-long variables", "Passed by file, and NAME_FILE names it; Lectic fails to start the hook."),
        different("allow_failure covers a hook that cannot start", "Lectic aborts. The document calls it a failure that is allowed."),
        different("a hook that lists an event and its alias", "Runs once, at the event; Lectic runs it twice."),
        different("one bad hook", "Is a problem, and the others load; Lectic refuses the whole run. A guard that can never run stays loaded and refuses."),
        different("a background failure", "Is visible in RunEnd; Lectic has reported success by then."),
        different("the reason of a refusal", "Names the hook and gives its stderr; Lectic says only that permission was denied."),
        behaviour("inline attachments in the `.lec` file", "hookline gives the text, placement and attributes to its caller; it writes no conversation file.", "no"),
    ),
)  # fmt: skip
