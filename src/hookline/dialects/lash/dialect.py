"""lash's hooks and its shell."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.core.event import EVENTS
from hookline.dialects.base import Dialect, DialectBase, Syntax, part


class _LashDialect(DialectBase):
    """Pure, as every dialect is: plugins are started by ``runners`` and only read here (``plugins.expand``)."""

    name = "lash"
    syntax: Syntax = "lash"
    #: The shell's names are the canonical ones; agent events are accepted under their canonical names too.
    events: Mapping[str, str] = MappingProxyType({name: name for name in EVENTS})

    places = part("hookline.dialects.lash.config:places")
    parse = part("hookline.dialects.lash.config:parse")
    render = part("hookline.dialects.lash.render:render")
    event_out = part("hookline.dialects.lash.wire:event_out")
    reply_in = part("hookline.dialects.lash.wire:reply_in")
    event_in = part("hookline.dialects.lash.wire:event_in")
    reply_out = part("hookline.dialects.lash.wire:reply_out")


DIALECT: Dialect = _LashDialect()
