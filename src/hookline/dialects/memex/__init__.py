"""iptic-memex: small LLM agents that run around each turn, written in an INI file."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from hookline.dialects.base import Dialect, DialectBase, Syntax, part
from hookline.dialects.memex.prompts import PHASES


class _MemexDialect(DialectBase):
    """Hooks of iptic-memex's configuration, and iptic-memex itself as an agent that calls us."""

    name = "memex"
    syntax: Syntax = "ini"
    events: Mapping[str, str] = MappingProxyType({phase.name: phase.event for phase in PHASES.values()})

    places = part("hookline.dialects.memex.config:places")
    parse = part("hookline.dialects.memex.config:parse")
    render = part("hookline.dialects.memex.render:render")
    event_out = part("hookline.dialects.memex.wire:event_out")
    reply_in = part("hookline.dialects.memex.wire:reply_in")
    event_in = part("hookline.dialects.memex.wire:event_in")
    reply_out = part("hookline.dialects.memex.wire:reply_out")


DIALECT: Dialect = _MemexDialect()
