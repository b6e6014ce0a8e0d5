"""Lectic's hooks, and Lectic as an agent that calls us."""

from __future__ import annotations

from hookline.dialects.base import DialectBase, Syntax, part
from hookline.dialects.lectic.events import CANONICAL, IMPLIED


class Lectic(DialectBase):
    """Stateless: every method is a function of its arguments."""

    name = "lectic"
    syntax: Syntax = "yaml"
    events = CANONICAL
    implied = IMPLIED

    places = part("hookline.dialects.lectic.config:places")
    includes = part("hookline.dialects.lectic.config:includes")
    parse = part("hookline.dialects.lectic.config:parse")
    render = part("hookline.dialects.lectic.render:render")
    event_out = part("hookline.dialects.lectic.wire:event_out")
    reply_in = part("hookline.dialects.lectic.wire:reply_in")
    event_in = part("hookline.dialects.lectic.agent_side:event_in")
    reply_out = part("hookline.dialects.lectic.agent_side:reply_out")
