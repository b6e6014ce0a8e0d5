"""Qwen's files, and both directions of its wire."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core.agents import uses_dialect
from hookline.dialects.base import ConfigPlace
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.reply_reader import Rules, read
from hookline.dialects.qwen.fields import EVENTS, WORDS
from hookline.dialects.qwen.reply import reply_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import Decision, HookError, Reply, RunResult
    from hookline.dialects.base import Answer

SYSTEM = HooksFormat(
    dialect="qwen",
    events=EVENTS,
    fields=frozenset({"name", "type", "command", "timeout", "description", "async", "statusMessage", "env", "shell"}),
    kept=("name", "description", "statusMessage", "env", "shell"),
    per_second=1000,
    timeout=60.0,
    switches=("enabled", "disabled", "notifications"),
    group_fields=frozenset({"sequential"}),
    matched=frozenset(
        {
            "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest", "PermissionDenied", "SessionStart",
            "SessionEnd", "PreCompact", "PostCompact", "Notification", "SubagentStart", "SubagentStop",
        }
    ),
)  # fmt: skip

_RULES = Rules(deaf_to_two=frozenset({"PermissionRequest"}))


class _QwenDialect(AgentDialect):
    """Hooks of Qwen's settings, and Qwen itself as an agent that calls us."""

    name = "qwen"
    events = EVENTS
    system = SYSTEM
    words = WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        found = {os.path.normpath(os.path.join(home, ".qwen/settings.json")): "user"}
        found.setdefault(os.path.normpath(os.path.join(cwd, ".qwen/settings.json")), "project")
        return tuple(ConfigPlace(path=path, layer=layer, syntax="json") for path, layer in found.items())

    def environ(self, event: Event) -> Mapping[str, str]:
        own = uses_dialect(event.agent, "qwen")
        project = (event.environ.get("QWEN_PROJECT_DIR", "") if own else "") or event.cwd
        return dict.fromkeys(("QWEN_PROJECT_DIR", "GEMINI_PROJECT_DIR", "CLAUDE_PROJECT_DIR"), project)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return read(spec, event, raw, _RULES)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


DIALECT = _QwenDialect()
