"""The hooks of Gemini's settings, row by row."""

from __future__ import annotations

from typing import Final

from hookline.dialects.compat import Table, behaviour, different, event, field

TABLE: Final = Table(
    dialect="gemini",
    system="Gemini CLI",
    places="`~/.gemini/settings.json`, `.gemini/settings.json`",
    rows=(
        field("hooks", "The top-level object, and the list inside a group."),
        field("matcher", "A regular expression that is searched for; `*` or empty for all."),
        field("sequential", "Hooks that decide always run in order here.", "differently"),
        field("name", "The hook's name."),
        field("type", "command; anything else is a problem, and the hook does not load.", "differently"),
        field("command", "A line for bash."),
        field("timeout", "Milliseconds; 60,000."),
        field("description", "Read and kept for convert."),
        event("SessionStart", "The matcher is tried on the source."),
        event("SessionEnd"),
        event("BeforeAgent", "UserPromptSubmit. After AfterAgent was refused, Gemini fires it again with the reason."),
        event("AfterAgent", "Stop: a deny sends the agent on with the reason."),
        event("BeforeModel", "PreModelRequest."),
        event("AfterModel", "PostModelRequest, once per chunk."),
        event("BeforeToolSelection", "PreToolSelection."),
        event("BeforeTool", "PreToolUse; the matcher is tried on both names of the tool."),
        event("AfterTool", "PostToolUse; PostToolUseFailure where the result holds an error, marked as derived."),
        event("PreCompress", "PreCompact."),
        event("Notification"),
        behaviour("decision deny or block, reason", "After a tool the reason is for the model."),
        behaviour("hookSpecificOutput.tool_input", "Laid over the input, key by key."),
        behaviour("stderr", "Read as the answer when stdout is empty."),
        behaviour("plain text", "A message for the person; with an exit code above 1 it denies."),
        behaviour("additionalContext, systemMessage, continue"),
        behaviour("GEMINI_PROJECT_DIR, GEMINI_CWD, GEMINI_SESSION_ID, CLAUDE_PROJECT_DIR"),
        behaviour("Gemini CLI as the agent: deny", "decision deny with exit code 0; Claude Code's form is ignored by it and never sent."),
        different("Gemini CLI as the agent: ask", "Without a terminal Gemini then ends without a word, so an ask is a refusal that says so."),
        different("Gemini CLI as the agent: a rewrite that takes a key away", "Gemini only adds and replaces, so this is a refusal that says so."),
        different("Gemini CLI as the agent: another tool output", "Takes the place of the result, as an error."),
        different("llm_request, llm_response, toolConfig, tailToolCallRequest", "Kept as attributes of the decision; nothing is done with them."),
    ),
)  # fmt: skip
