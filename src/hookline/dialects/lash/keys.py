"""The names of keys, and KeyHookConfig: which keys a frontend has to send at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from string import ascii_lowercase
from types import MappingProxyType
from typing import Literal

from hookline.core.hook import HookSpec, Matcher, Pattern, Plugin

_NAVIGATION = ("up", "down", "left", "right", "home", "end")
_SPECIAL = ("enter", "tab", "backspace", "escape", "delete", "shift+tab")
_MODIFIED = ("ctrl+left", "ctrl+right")
CONTROL = tuple(f"ctrl+{letter}" for letter in ascii_lowercase)

#: Every name of more than one character.
NAMED = frozenset((*_NAVIGATION, *_SPECIAL, *_MODIFIED, *CONTROL))

#: Keys that a terminal cannot tell apart are reported under one name.
ALIASES: Mapping[str, str] = MappingProxyType(
    {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+[": "escape"}
)

#: Events that stand for one key.
KEY_EVENTS: Mapping[str, str] = MappingProxyType({"key.tab": "tab", "key.up": "up", "key.down": "down"})


def canonical_key(name: str) -> str | None:
    """The one name a key is reported under, or None for a name that no frontend can send."""
    name = ALIASES.get(name, name)
    if name in NAMED or (len(name) == 1 and name.isprintable()):
        return name
    return None


def key_matcher(keys: frozenset[str] | None) -> Matcher:
    """None: every key. An empty set: no key at all, so the hook never runs. A press may come under an alias."""
    if keys is None:
        return Matcher()
    pressed = keys | {alias for alias, name in ALIASES.items() if name in keys}
    return Matcher(subject=Pattern(style="exact", options=tuple(sorted(pressed))))


def key_hook_config(specs: Iterable[HookSpec]) -> list[str] | Literal["*"]:
    """The union of all keys that somebody hooks, sorted; "*" as soon as one hook wants them all."""
    wanted: set[str] = set()
    for spec in specs:
        if not spec.enabled or (isinstance(spec.action, Plugin) and spec.extra.get("unexpanded")):
            continue
        if spec.event in KEY_EVENTS:
            wanted.add(KEY_EVENTS[spec.event])
        elif spec.event == "input.key":
            if spec.matcher.subject.style != "exact":
                return "*"
            wanted.update(ALIASES.get(key, key) for key in spec.matcher.subject.options)
    return sorted(wanted)
