"""Codex's files, and both directions of its wire."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from hookline.dialects.base import Place
from hookline.dialects.claude_style.agent import AgentDialect
from hookline.dialects.claude_style.answer import Rules, read
from hookline.dialects.claude_style.family import System
from hookline.dialects.codex.outward import reply_out
from hookline.dialects.codex.words import EVENTS, WORDS
from hookline.result import Fault

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.dialects.base import Answer
    from hookline.event import Event
    from hookline.result import Decision, Raw, Reply
    from hookline.spec import HookSpec

SYSTEM = System(
    dialect="codex",
    events=EVENTS,
    fields=frozenset({"type", "command", "commandWindows", "timeout", "async", "statusMessage", "additionalContextLimit"}),
    kept=("commandWindows", "statusMessage", "additionalContextLimit"),
    timeout=600.0,
    event_timeouts={"SessionEnd": 1.0},
    matched=frozenset({"PreToolUse", "PostToolUse", "PermissionRequest", "SessionStart", "PreCompact", "PostCompact"}),
)  # fmt: skip

#: Codex decides a permission by JSON alone, and reads JSON only from a hook that ended well.
RULES = Rules(deaf_to_two=frozenset({"PermissionRequest"}), json_on_any_exit=False)


class CodexDialect(AgentDialect):
    """Hooks of Codex's hooks.json, and Codex itself as an agent that calls us."""

    name = "codex"
    events = EVENTS
    system = SYSTEM
    words = WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[Place]:
        """The user's file may be moved by ``CODEX_HOME``; one file is never read twice."""
        own = environ.get("CODEX_HOME") or os.path.join(home, ".codex")
        found = {os.path.normpath(os.path.join(own, "hooks.json")): "user"}
        found.setdefault(os.path.normpath(os.path.join(cwd, ".codex/hooks.json")), "project")
        return tuple(Place(path=path, layer=layer, syntax="json") for path, layer in found.items())

    def reply_in(self, spec: HookSpec, event: Event, raw: Raw) -> Reply | Fault:
        """As Claude Code's, but a block without a reason is a hook that failed."""
        if raw.exit_code == 2 and not raw.error and not raw.stderr.strip():
            return Fault(error="exit code 2 without a reason on stderr, which Codex takes for a failure")
        return read(spec, event, raw, RULES)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


DIALECT = CodexDialect()
