"""Our own dialect: ``hookline.toml`` and the native wire.

``config`` finds our layers, since it knows where hookline keeps its files, and follows a ``[[source]]``.
"""

from __future__ import annotations

from types import MappingProxyType

from hookline.core.event import EVENTS
from hookline.dialects.base import module_dialect

DIALECT = module_dialect(
    "native",
    "toml",
    MappingProxyType({name: name for name in EVENTS}),
    {
        "native.config": "places parse besides_hooks",
        "native.render": "render",
        "native.wire": "event_out reply_in",
        "native.agent_side": "event_in reply_out",
    },
)
