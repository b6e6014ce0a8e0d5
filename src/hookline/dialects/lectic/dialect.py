"""The two faces in one object."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.dialects.lectic import agent_side, config, wire
from hookline.dialects.lectic.events import CANONICAL, IMPLIED

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.core.hook import HookSpec
    from hookline.dialects.base import Rendered, Syntax


class Lectic:
    """Stateless: every method is a function of its arguments."""

    name: str = "lectic"
    syntax: Syntax = "yaml"
    events: Mapping[str, str] = CANONICAL
    implied: Mapping[str, Mapping[str, Any]] = IMPLIED

    places = staticmethod(config.places)
    includes = staticmethod(config.includes)
    parse = staticmethod(config.parse)
    event_out = staticmethod(wire.event_out)
    reply_in = staticmethod(wire.reply_in)
    event_in = staticmethod(agent_side.event_in)
    reply_out = staticmethod(agent_side.reply_out)

    @staticmethod
    def render(specs: Sequence[HookSpec]) -> Rendered:
        # Imported here: only people who convert files need a YAML writer.
        from hookline.dialects.lectic.render import render  # noqa: PLC0415

        return render(specs)
