"""lazy-harness's hooks. Its agent is Claude Code, so the answer is written as Claude Code's."""

from __future__ import annotations

from hookline.dialects.base import Dialect, DialectBase, Syntax, part
from hookline.dialects.lazy.events import EVENTS


class _LazyDialect(DialectBase):
    """Hooks of lazy-harness's configuration."""

    name = "lazy"
    syntax: Syntax = "toml"
    events = EVENTS

    places = part("hookline.dialects.lazy.config:places")
    parse = part("hookline.dialects.lazy.config:parse")
    render = part("hookline.dialects.lazy.render:render")
    event_out = part("hookline.dialects.lazy.wire:event_out")
    reply_in = part("hookline.dialects.lazy.wire:reply_in")
    event_in = part("hookline.dialects.lazy.wire:event_in")
    reply_out = part("hookline.dialects.claude_family.reply:reply_out")


DIALECT: Dialect = _LazyDialect()
