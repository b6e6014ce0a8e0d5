"""The two faces put together."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.core.event import EVENTS
from hookline.dialects.base import ConfigPlace
from hookline.dialects.lash import config, render, wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.core.result import Decision, HookError, Reply, RunResult
    from hookline.dialects.base import Answer, Call, Dialect, Include, Incoming, Layer, Lookup, Parsed, Rendered, Syntax


class _LashDialect:
    """Pure, as every dialect is: plugins are started by ``run`` and only read here (``plugins.expand``)."""

    name = "lash"
    syntax: Syntax = "lash"
    #: The shell's names are the canonical ones; agent events are accepted under their canonical names too.
    events: Mapping[str, str] = MappingProxyType({name: name for name in EVENTS})

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        _ = cwd, environ
        folder = os.path.join(home, ".lash")
        return tuple(
            ConfigPlace(path=os.path.join(folder, file), layer="user", syntax="lash")
            for file in ("config", "plugins.conf")
        )

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
        _ = layer, lookup
        return (), ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:
        return config.parse(layers, lookup)

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        return render.render(specs)

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        return wire.event_out(spec, event)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        _ = event
        return wire.reply_in(spec, raw)

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        return wire.event_in(name, payload, environ)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return wire.reply_out(event, decision)


DIALECT: Dialect = _LashDialect()
