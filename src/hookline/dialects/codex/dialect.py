"""Codex's files, and both directions of its wire."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.core.result import HookError
from hookline.dialects.base import ConfigPlace
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.reply_reader import Rules, read
from hookline.dialects.codex.fields import EVENTS, WORDS
from hookline.dialects.codex.reply import reply_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import Decision, Reply, RunResult
    from hookline.dialects.base import Answer

SYSTEM = HooksFormat(
    dialect="codex",
    events=EVENTS,
    fields=frozenset({"type", "command", "commandWindows", "timeout", "async", "statusMessage", "additionalContextLimit"}),
    kept=("commandWindows", "statusMessage", "additionalContextLimit"),
    timeout=600.0,
    event_timeouts={"SessionEnd": 1.0},
    matched=frozenset({"PreToolUse", "PostToolUse", "PermissionRequest", "SessionStart", "PreCompact", "PostCompact"}),
)  # fmt: skip

#: Codex decides a permission by JSON alone, and reads JSON only from a hook that ended well.
_RULES = Rules(deaf_to_two=frozenset({"PermissionRequest"}), json_on_any_exit=False)


class _CodexDialect(AgentDialect):
    """Hooks of Codex's hooks.json, and Codex itself as an agent that calls us."""

    name = "codex"
    events = EVENTS
    system = SYSTEM
    words = WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        """The user's file may be moved by ``CODEX_HOME``; one file is never read twice."""
        own = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
        found = {os.path.normpath(os.path.join(own, "hooks.json")): "user"}
        found.setdefault(os.path.normpath(os.path.join(cwd, ".codex/hooks.json")), "project")
        return tuple(ConfigPlace(path=path, layer=layer, syntax="json") for path, layer in found.items())

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        """As Claude Code's, but a block without a reason is a hook that failed."""
        if raw.exit_code == 2 and not raw.error and not raw.stderr.strip():
            return HookError(error="exit code 2 without a reason on stderr, which Codex takes for a failure")
        return read(spec, event, raw, _RULES)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


DIALECT = _CodexDialect()
