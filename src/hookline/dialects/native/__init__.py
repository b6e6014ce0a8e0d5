"""Our own dialect: ``hookline.toml`` and the native wire."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hookline.core.event import EVENTS
from hookline.dialects.native import wire

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


class Native:
    """Both faces. Our own layers are found by ``config``, which knows where hookline keeps its things."""

    name: str = "native"
    syntax: Syntax = "toml"
    events: Mapping[str, str] = MappingProxyType({name: name for name in EVENTS})

    def places(self, cwd: str, home: str, environ: Mapping[str, str]) -> Sequence[ConfigPlace]:
        del cwd, home, environ
        return ()

    def includes(self, layer: Layer, lookup: Lookup) -> tuple[Sequence[Include], Sequence[Problem]]:
        """None: a ``[[source]]`` is more than an include, and is followed by ``config``."""
        del layer, lookup
        return (), ()

    def parse(self, layers: Sequence[Layer], lookup: Lookup) -> Parsed:
        # Imported here, as render is: an engine that already has its hooks needs only the wire.
        from hookline.dialects.native.config import parse  # noqa: PLC0415

        return parse(layers, lookup)

    def render(self, specs: Sequence[HookSpec]) -> Rendered:
        from hookline.dialects.native.render import render  # noqa: PLC0415

        return render(specs)

    def event_out(self, spec: HookSpec, event: Event) -> Call:
        return wire.event_out(spec, event)

    def reply_in(self, spec: HookSpec, event: Event, raw: RunResult) -> Reply | HookError:
        return wire.reply_in(spec, event, raw)

    def event_in(self, name: str, payload: Mapping[str, object], environ: Mapping[str, str]) -> Incoming:
        return wire.event_in(name, payload, environ)

    def reply_out(self, event: Event, decision: Decision) -> Answer:
        return wire.reply_out(event, decision)


DIALECT: Final = Native()
