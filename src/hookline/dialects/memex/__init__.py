"""iptic-memex: small LLM agents that run around each turn, written in an INI file."""

from __future__ import annotations

from types import MappingProxyType

from hookline.dialects.base import module_dialect
from hookline.dialects.memex.prompts import PHASES

DIALECT = module_dialect(
    "memex",
    "ini",
    MappingProxyType({phase.name: phase.event for phase in PHASES.values()}),
    {
        "memex.config": "places parse",
        "memex.render": "render",
        "memex.wire": "event_out reply_in event_in reply_out",
    },
)
