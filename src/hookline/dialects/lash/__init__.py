"""lash: executables and long-lived plugins that observe, block, modify or apply later, inside a shell."""

from __future__ import annotations

from hookline.dialects.lash.dialect import DIALECT
from hookline.dialects.lash.keys import key_hook_config
from hookline.dialects.lash.plugins import describe_plugin, expand, expand_plugins, is_unexpanded

__all__ = ["DIALECT", "describe_plugin", "expand", "expand_plugins", "is_unexpanded", "key_hook_config"]
