"""The plugins that come with hookline: ``name = builtin:NAME`` in ``plugins.conf``."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping
from types import MappingProxyType

from hookline.core.hook import Plugin

#: Name -> what it does.
BUILTIN_PLUGINS: Mapping[str, str] = MappingProxyType(
    {
        "git-prompt": "the branch and the state of the repository in the prompt, without holding it up",
        "typo-correct": "says which command was meant when there is none of that name",
        "guard": "refuses commands that destroy what cannot be brought back",
        "ask": "`>` on an empty line asks a model for a command and puts it into the line",
    }
)

_FOLDER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "shell", "plugins")


def builtin_plugin(key: str, name: str) -> Plugin | None:
    """The plugin ``name``, known under ``key`` in the file; None when there is none. Run by the Python we run on."""
    if name not in BUILTIN_PLUGINS:
        return None
    path = os.path.normpath(os.path.join(_FOLDER, f"{name.replace('-', '_')}.py"))
    return Plugin(name=key, path=path, interpreter=sys.executable)
