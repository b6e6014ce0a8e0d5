"""The document's names of keys, and what the line editor calls them."""

from __future__ import annotations

from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.dialects.lash.keys import ALIASES, CONTROL

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Named keys as prompt_toolkit spells them. Tab, enter and backspace are control characters to a terminal.
EDITOR_KEYS: Mapping[str, str] = MappingProxyType(
    {
        "up": "up", "down": "down", "left": "left", "right": "right", "home": "home", "end": "end", "enter": "c-m",
        "tab": "c-i", "backspace": "c-h", "escape": "escape", "delete": "delete", "shift+tab": "s-tab",
        "ctrl+left": "c-left", "ctrl+right": "c-right",
        **{name: f"c-{name[-1]}" for name in CONTROL if name not in ALIASES},
    }
)  # fmt: skip

_NAMES: Mapping[str, str] = MappingProxyType({spelled: name for name, spelled in EDITOR_KEYS.items()})


def key_name(spelled: str) -> str | None:
    """The document's name of a key that was pressed; None for keys it has no name for."""
    if len(spelled) == 1:
        return spelled if spelled.isprintable() else None
    return _NAMES.get(spelled)


def editor_key(name: str) -> str | None:
    """What the editor calls it; None for a name that no key has."""
    name = ALIASES.get(name, name)
    return name if len(name) == 1 else EDITOR_KEYS.get(name)


#: What a terminal sends for keys that insert nothing by themselves.
SENT: Mapping[str, str] = MappingProxyType({"c-m": "\r", "c-i": "\t", "c-h": "\x7f", "escape": "\x1b"})
