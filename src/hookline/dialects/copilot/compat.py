"""The hooks of Copilot's hooks files, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field
from hookline.dialects.copilot.fields import EVENTS

TABLE: Final = Table(
    dialect="copilot",
    system="Copilot CLI",
    places="`~/.copilot/hooks/hooks.json`, `.github/hooks/hooks.json`; name other files of these directories with path",
    rows=(
        field("hooks", "The top-level object: a list of hooks per event."),
        field("matcher", "A regular expression on the whole name of the tool."),
        field("type", "command; anything else is a problem, and the hook does not load.", "differently"),
        field("bash", "A line for bash."),
        field("command", "The same as bash."),
        field("powershell", "Read and kept for convert.", "no"),
        field("timeoutSec", "Seconds; 30."),
        field("timeout", "The same as timeoutSec."),
        field("cwd", "Read and kept for convert; hooks run where the agent works.", "no"),
        field("env", "Read and kept for convert, not set.", "no"),
        field("comment", "Read and kept for convert."),
        *(event(name, "" if name == EVENTS[name] else f"{EVENTS[name]}.") for name in EVENTS),
        behaviour("exit codes", "Before a tool anything but 0 refuses; 2 also refuses a permission; elsewhere it is a failure."),
        behaviour("permissionDecision, modifiedArgs, modifiedPrompt, modifiedResult, additionalContext, decision block, behavior"),
        behaviour("hookSpecificOutput", "Read only from a hook under a PascalCase name, before a tool."),
        behaviour("Copilot CLI as the agent", "Answered with top-level JSON and exit code 0, so that the reason reaches the model."),
        behaviour("Copilot CLI as the agent: context under a PascalCase name", "As additionalContext at the top: that is where Copilot reads it, under both spellings."),
        different("failed tools", "Copilot sends postToolUse; where its result is no success, PostToolUseFailure is fired, marked as derived."),
    ),
)  # fmt: skip
