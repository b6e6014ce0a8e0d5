"""Our own dialect: ``hookline.toml`` and the native wire."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.core.event import EVENTS
from hookline.dialects.base import Dialect, DialectBase, Syntax, part


class Native(DialectBase):
    """Our own layers are found by ``config``, which knows where hookline keeps its things; it follows a ``[[source]]`` too."""

    name = "native"
    syntax: Syntax = "toml"
    events: Mapping[str, str] = MappingProxyType({name: name for name in EVENTS})

    places = part("hookline.dialects.native.config:places")
    parse = part("hookline.dialects.native.config:parse")
    render = part("hookline.dialects.native.render:render")
    event_out = part("hookline.dialects.native.wire:event_out")
    reply_in = part("hookline.dialects.native.wire:reply_in")
    event_in = part("hookline.dialects.native.wire:event_in")
    reply_out = part("hookline.dialects.native.wire:reply_out")


DIALECT: Dialect = Native()
