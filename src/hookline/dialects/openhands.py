"""OpenHands: Claude Code's hooks with names of its own around the event, and fewer answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.field_map import event_table, field_map
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import full_pattern
from hookline.dialects.claude_family.payload import output_text, result_fields
from hookline.dialects.claude_family.render import full_match_text
from hookline.dialects.claude_family.reply_reader import Rules
from hookline.dialects.claude_family.reply_table import EXIT_2, on, replies

_EVENTS = event_table(
    "openhands",
    "PreToolUse PostToolUse UserPromptSubmit SessionStart SessionEnd Stop PreToolUse:pre_tool_use"
    " PostToolUse:post_tool_use UserPromptSubmit:user_prompt_submit SessionStart:session_start SessionEnd:session_end"
    " Stop:stop",
)


def _canonical_fields(event: str, sent: Mapping[str, Any]) -> dict[str, Any]:
    if event == "PostToolUse":
        return {"tool_output": output_text(sent.get("tool_response"))}
    return {"source": "startup"} if event == "SessionStart" else {}


DIALECT = AgentDialect(
    name="openhands",
    words=field_map(
        "openhands", _EVENTS,
        {
            "PreToolUse": "tool_name tool_input",
            "PostToolUse": "tool_name tool_input tool_response",
            "UserPromptSubmit": "prompt:message",
            "SessionEnd": "reason",
        },
        frame="session_id cwd:working_dir metadata", named_by="event_type", session_variable="OPENHANDS_SESSION_ID",
        cwd_variable="OPENHANDS_PROJECT_DIR", canonical_fields=_canonical_fields,
        native_fields=result_fields,
    ),
    system=HooksFormat(
        dialect="openhands", events=_EVENTS, timeout=60.0, pattern=full_pattern, pattern_text=full_match_text,
        fields=frozenset({"type", "command", "timeout", "async"}),
        matched=frozenset({"PreToolUse", "PostToolUse", "pre_tool_use", "post_tool_use"}),
    ),
    rules=Rules(json_on_any_exit=False),
    variables={"OPENHANDS_PROJECT_DIR": "{cwd}", "OPENHANDS_SESSION_ID": "{session}"},
    replies=replies(
        "openhands",
        deny=on("PreToolUse UserPromptSubmit Stop", EXIT_2),
        context=on("UserPromptSubmit", {"additionalContext": "{context}"}),
    ),
)  # fmt: skip
