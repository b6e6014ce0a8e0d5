"""iptic-memex's document, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

TABLE: Final = Table(
    dialect="memex",
    system="iptic-memex",
    places="`config.ini` in `$XDG_CONFIG_HOME/iptic-memex`, else in `~/.config/iptic-memex`",
    rows=(
        field("enable"),
        field("model", "Else `[AGENT] default_model`, else `[DEFAULT] default_model`."),
        field("prompt", "A file (from the configuration's directory, then from the working directory, each with `prompts/`), an alias of `[PROMPTS]`, a chain of these, or the text itself."),
        field("tools", "memory, ragsearch, and MCP servers of the `[mcp]` table. Other names are a warning, and the hook runs without them. None for none."),
        field("steps", "Model requests at most."),
        field("mode", "inject, silent or rewrite; rewrite acts as inject, as in memex."),
        field("runner", "internal or external."),
        field("external_cmd", "Split like a shell line, run without a shell. Unset: `hookline agent`."),
        field("label", "A text; the default is `hook:NAME`."),
        field("prefix"),
        field("timeout", "hookline's own addition: seconds, or 500ms, 30s, 2m.", "differently"),
        field("when_every_n_turns"),
        field("when_min_turn"),
        field("when_message_contains"),
        field("when_role"),
        event("session_start", "At the first typed prompt, once per session, before pre_turn. Never on an auto-submitted turn."),
        event("pre_turn", "UserPromptSubmit. Silent hooks are skipped."),
        event("post_turn", "Stop."),
        event("session_end", "SessionEnd. Injected text is placed as `session`."),
        behaviour("the snapshot on stdin, `{last_text, error}` back", "The same for both runners."),
        behaviour("`{{hook_input_text}}` and the chat in a prompt"),
        behaviour("--no-hooks", "Inherited: HOOKLINE_NO_HOOKS=1 is set for whatever the agent starts, and no hook runs there. At the door that agents call it holds back only hooks that ask a model, so that a repository cannot switch off a guard with it."),
        different("enable = 0, off, none, disabled", "Switch the hook off; memex understands only false and no."),
        different("a prompt that looks like a path and is not there", "A problem, and the hook does not run; memex takes the path for the prompt."),
        different("when_message_contains = 42", "Matches messages with 42; memex runs on every message."),
        different("gates and auto-submitted turns", "Only typed turns are counted and tested; memex counts follow-ups too."),
        different("a provider's error", "Is a failure in the record; memex injects its text into the conversation."),
        different("tools = [a, b] and __none__", "A list of two names, and no tools; memex makes broken names of the one and allows every tool for the other."),
        different("timeouts", "120 s unless `timeout` says otherwise; memex has none."),
        different("an unknown key", "Is a warning; memex ignores it."),
    ),
)  # fmt: skip
