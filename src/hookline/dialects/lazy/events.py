"""lazy-harness's events: its own names on the left, the agent's on the right."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

EVENTS: Mapping[str, str] = MappingProxyType(
    {
        "session_start": "SessionStart",
        "session_stop": "Stop",
        "session_end": "SessionEnd",
        "pre_compact": "PreCompact",
        "post_compact": "PostCompact",
        "pre_tool_use": "PreToolUse",
        "post_tool_use": "PostToolUse",
        "notification": "Notification",
        "user_prompt_submit": "UserPromptSubmit",
        "permission_request": "PermissionRequest",
    }
)

#: Further events: "after each tool call" is also after one that failed.
ALSO: Mapping[str, tuple[str, ...]] = MappingProxyType({"post_tool_use": ("PostToolUseFailure",)})

#: What a hook without a matcher of its own is run for.
MATCHERS: Mapping[str, str] = MappingProxyType({"pre_tool_use": "Bash", "post_tool_use": "Edit|Write"})


def native_names() -> Mapping[str, str]:
    """The way back: canonical -> lazy-harness."""
    return {canonical: native for native, canonical in EVENTS.items()}
