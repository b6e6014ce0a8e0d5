"""iptic-memex: small LLM agents that run around each turn, written in an INI file."""

from __future__ import annotations

import os
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from hookline.dialects.base import ConfigPlace
from hookline.dialects.memex import wire
from hookline.dialects.memex.phases import PHASES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.core.result import Decision, HookError, Reply, RunResult
    from hookline.dialects.base import Answer, Call, Dialect, Include, Incoming, Layer, Lookup, Parsed, Rendered, Syntax


class _Memex:
    name = "memex"
    syntax: Syntax = "ini"
    events: Mapping[str, str] = MappingProxyType({phase.name: phase.event for phase in PHASES.values()})

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        del cwd
        xdg = environ.get("XDG_CONFIG_HOME", "")
        base = xdg if os.path.isabs(xdg) else os.path.join(home, ".config")
        return (ConfigPlace(path=os.path.join(base, "iptic-memex", "config.ini"), layer="user", syntax="ini"),)

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
        del layer, lookup
        return (), ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:
        # Imported here, as render is: an engine that already has its hooks needs only the wire.
        from hookline.dialects.memex.config import parse  # noqa: PLC0415

        return parse(layers, lookup)

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        from hookline.dialects.memex.render import render  # noqa: PLC0415

        return render(specs)

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        return wire.event_out(spec, event)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        del event
        return wire.reply_in(spec, raw)

    def event_in(self, name: str, payload: Mapping[str, Any], environ: Mapping[str, str]) -> Incoming:
        del environ
        return wire.event_in(name, payload)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        del event
        return wire.reply_out(decision)


DIALECT: Dialect = _Memex()
