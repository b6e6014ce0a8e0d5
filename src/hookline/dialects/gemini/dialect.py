"""Gemini's files, and both directions of its wire."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

from hookline.core.agents import uses_dialect
from hookline.core.event import Event
from hookline.core.hook import HookSpec, Pattern
from hookline.core.result import Decision, HookError, Reply, RunResult
from hookline.dialects.base import Answer, ConfigPlace
from hookline.dialects.claude_family.agent import AgentDialect
from hookline.dialects.claude_family.hooks_file import HooksFormat
from hookline.dialects.claude_family.matcher import python_regex
from hookline.dialects.gemini.fields import EVENTS, WORDS
from hookline.dialects.gemini.reply import reply_in, reply_out


def _pattern(text: str | None) -> Pattern | None:
    """On tools an expression that is searched for; on the others Gemini compares the whole text."""
    if text is None or text in {"", "*"}:
        return Pattern()
    translated = python_regex(text)
    return None if translated is None else Pattern(style="search", text=translated)


SYSTEM = HooksFormat(
    dialect="gemini",
    events=EVENTS,
    fields=frozenset({"name", "type", "command", "timeout", "description"}),
    kept=("name", "description"),
    per_second=1000,
    timeout=60.0,
    switches=("enabled", "disabled", "notifications"),
    group_fields=frozenset({"sequential"}),
    matched=frozenset({"BeforeTool", "AfterTool", "SessionStart", "SessionEnd", "PreCompress", "Notification"}),
    pattern=_pattern,
)


class _GeminiDialect(AgentDialect):
    """Hooks of Gemini's settings, and Gemini itself as an agent that calls us."""

    name = "gemini"
    events = EVENTS
    system = SYSTEM
    words = WORDS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        found = {os.path.normpath(os.path.join(home, ".gemini/settings.json")): "user"}
        found.setdefault(os.path.normpath(os.path.join(cwd, ".gemini/settings.json")), "project")
        return tuple(ConfigPlace(path=path, layer=layer, syntax="json") for path, layer in found.items())

    def environ(self, event: Event) -> Mapping[str, str]:
        own = uses_dialect(event.agent, "gemini")
        project = event.environ.get("GEMINI_PROJECT_DIR", "") if own else ""
        project = project or event.cwd
        return {
            "GEMINI_PROJECT_DIR": project, "GEMINI_CWD": event.cwd, "GEMINI_SESSION_ID": event.session,
            "CLAUDE_PROJECT_DIR": project,
        }  # fmt: skip

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        del spec
        return reply_in(event, raw)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


DIALECT = _GeminiDialect()
