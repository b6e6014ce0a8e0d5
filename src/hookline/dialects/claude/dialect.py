"""Both faces of Claude Code in one object. Most events need only one of them, and a cold run pays for every import."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.dialects.claude.names import EVENTS
from hookline.dialects.claude_family.payload import event_in
from hookline.dialects.claude_family.reply import reply_out

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.core.result import HookError, Reply, RunResult
    from hookline.dialects.base import Call, ConfigPlace, Include, Layer, Lookup, Parsed, Rendered, Syntax


class _ClaudeDialect:
    """Hooks of Claude Code's settings files, and Claude Code itself as an agent that calls us."""

    name = "claude"
    syntax: Syntax = "json"
    events: Mapping[str, str] = EVENTS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        from hookline.dialects.claude import config  # noqa: PLC0415  only who has hooks of Claude Code's

        return config.places(cwd, home, environ)

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:  # the protocol's
        return (), ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:  # the protocol's
        from hookline.dialects.claude import config  # noqa: PLC0415  only who has hooks of Claude Code's

        return config.parse(layers)

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        from hookline.dialects.claude import render as writing  # noqa: PLC0415  only who has hooks of Claude Code's

        return writing.render(specs)

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        from hookline.dialects.claude import wire  # noqa: PLC0415  only who has hooks of Claude Code's

        return wire.event_out(spec, event)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        from hookline.dialects.claude import wire  # noqa: PLC0415  only who has hooks of Claude Code's

        return wire.reply_in(spec, event, raw)

    event_in = staticmethod(event_in)
    reply_out = staticmethod(reply_out)


DIALECT = _ClaudeDialect()
