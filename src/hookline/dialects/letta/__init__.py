"""Letta Code: commands and prompts that allow, block or add context, in three layers of JSON settings."""

from __future__ import annotations

from hookline.dialects.base import module_dialect
from hookline.dialects.letta.config import EVENTS

DIALECT = module_dialect(
    "letta",
    "json",
    EVENTS,
    {
        "letta.config": "places parse render",
        "letta.wire": "event_out reply_in",
        "letta.reply": "event_in reply_out",
    },
)
