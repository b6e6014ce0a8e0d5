"""lazy-harness's events, and its hooks: the agent's own, with Claude Code's payload on stdin and its JSON on stdout."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import Command, HookSpec
from hookline.core.result import HookError, Reply, RunResult
from hookline.dialects.base import Call, Incoming
from hookline.dialects.claude_family import payload as claude
from hookline.dialects.claude_family.payload import bash_launchers, compact
from hookline.dialects.claude_family.reply_reader import Rules, read

#: "Always exit 0", except for a deliberate block: what fails says nothing.
_RULES = Rules(json_on_any_exit=False)


def event_out(spec: HookSpec, event: Event) -> Call:
    stdin = compact(claude.payload(event.kind.name, event))
    if not isinstance(spec.action, Command):
        return Call(stdin=stdin, cwd=event.cwd)
    action = spec.action
    argv, *others = [action.argv] if action.form == "argv" else bash_launchers(action.text)
    environ = {"CLAUDE_PROJECT_DIR": claude.project_dir(event)}
    return Call(argv=argv, fallbacks=tuple(others), stdin=stdin, environ=environ, cwd=event.cwd)


def reply_in(spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
    return read(spec, event, raw, _RULES)


def event_in(name: str, sent: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
    return claude.event_in(EVENTS.get(name, name), sent, environ)


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
