"""Letta Code's hooks, and Letta Code as an agent that calls us."""

from __future__ import annotations

from hookline.dialects.base import Dialect, DialectBase, Syntax, part
from hookline.dialects.letta.events import EVENTS


class _LettaDialect(DialectBase):
    """Hooks of Letta Code's settings files, and Letta Code itself as an agent that calls us."""

    name = "letta"
    syntax: Syntax = "json"
    events = EVENTS

    places = part("hookline.dialects.letta.config:places")
    parse = part("hookline.dialects.letta.config:parse")
    render = part("hookline.dialects.letta.config:render")
    event_out = part("hookline.dialects.letta.wire:event_out")
    reply_in = part("hookline.dialects.letta.wire:reply_in")
    event_in = part("hookline.dialects.letta.reply:event_in")
    reply_out = part("hookline.dialects.letta.reply:reply_out")


DIALECT: Dialect = _LettaDialect()
