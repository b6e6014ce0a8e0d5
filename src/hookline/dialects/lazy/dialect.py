"""Both faces of lazy-harness in one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.dialects.claude_family.reply import reply_out
from hookline.dialects.lazy import config, wire
from hookline.dialects.lazy import render as writing
from hookline.dialects.lazy.events import EVENTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.core.result import Decision, HookError, Reply, RunResult
    from hookline.dialects.base import (
        Answer,
        Call,
        ConfigPlace,
        Include,
        Incoming,
        Layer,
        Lookup,
        Parsed,
        Rendered,
        Syntax,
    )


class _LazyDialect:
    """Hooks of lazy-harness's configuration. Its agent is Claude Code, so the answer out is Claude Code's."""

    name = "lazy"
    syntax: Syntax = "toml"
    events: Mapping[str, str] = EVENTS

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:  # the protocol's
        return config.places(home, environ)

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:  # the protocol's
        return (), ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:
        return config.parse(layers, lookup)

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        return writing.render(specs)

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        return wire.event_out(spec, event)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return wire.reply_in(spec, event, raw)

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        return wire.event_in(name, payload, environ)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return reply_out(event, decision)


DIALECT = _LazyDialect()
