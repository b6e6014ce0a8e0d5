"""lash's hooks and its shell."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.core.event import EVENTS
from hookline.dialects.base import Dialect, DialectBase, Syntax, part

if TYPE_CHECKING:
    from collections.abc import Mapping


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
