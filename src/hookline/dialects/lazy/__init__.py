"""lazy-harness: built-in and user programs, named in ``config.toml`` and run by the agent.

Its agent is Claude Code, so the answer is written in Claude Code's format.
"""

from __future__ import annotations

from hookline.dialects.base import module_dialect
from hookline.dialects.lazy.wire import EVENTS

DIALECT = module_dialect(
    "lazy",
    "toml",
    EVENTS,
    {
        "lazy.config": "places parse render",
        "lazy.wire": "event_out reply_in event_in",
        "claude_family.reply": "reply_out",
    },
)
