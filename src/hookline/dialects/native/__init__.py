"""Our own dialect: ``hookline.toml`` and the native wire."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from hookline.core.event import EVENTS
from hookline.dialects.native import wire

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.hook import HookSpec
    from hookline.core.problem import Problem
    from hookline.dialects.base import ConfigPlace, Include, Layer, Lookup, Parsed, Rendered, Syntax


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

    event_out = staticmethod(wire.event_out)
    reply_in = staticmethod(wire.reply_in)
    event_in = staticmethod(wire.event_in)
    reply_out = staticmethod(wire.reply_out)


DIALECT: Final = Native()
