"""lash: executables and long-lived plugins that observe, block, modify or apply later, inside a shell.

Plugins are started by ``runners``; here only their answers are read (``plugins.expand``).
"""

from __future__ import annotations

from types import MappingProxyType

from hookline.core.event import EVENTS
from hookline.dialects.base import module_dialect
from hookline.dialects.lash.entry import key_hook_config
from hookline.dialects.lash.plugins import describe_plugin, expand, expand_plugins, is_unexpanded

__all__ = ["DIALECT", "describe_plugin", "expand", "expand_plugins", "is_unexpanded", "key_hook_config"]

DIALECT = module_dialect(
    "lash",
    "lash",
    # The shell's names are the canonical ones; agent events are accepted under their canonical names too.
    MappingProxyType({name: name for name in EVENTS}),
    {
        "lash.config": "places parse",
        "lash.render": "render",
        "lash.wire": "event_out reply_in event_in reply_out",
    },
)
