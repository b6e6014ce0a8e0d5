"""Lectic: commands and scripts around messages, tools and runs, configured in YAML.

Where this differs from Lectic on purpose (the reasons are given at the place):
one bad hook does not stop the others; a hook that lists an event and its alias runs once; a block scalar
of one line is a command; quotes work inside a word; single-quoted words and the code of ``sh -c`` are not
expanded; ``~/`` is; hooks have a timeout; ``allow_failure`` covers a hook that cannot start; a refusal says
which hook refused and why.
"""

from __future__ import annotations

from hookline.dialects.base import module_dialect
from hookline.dialects.lectic.events import CANONICAL, IMPLIED

DIALECT = module_dialect(
    "lectic",
    "yaml",
    CANONICAL,
    {
        "lectic.config": "places includes parse",
        "lectic.programs": "besides_hooks",
        "lectic.render": "render",
        "lectic.wire": "event_out reply_in",
        "lectic.agent_side": "event_in reply_out",
    },
    implied=IMPLIED,
)
