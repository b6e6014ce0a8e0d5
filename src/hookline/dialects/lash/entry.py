"""One entry of a ``[hooks]`` line, and the options that hookline adds to it.

    type:path
    type(on_error=deny, timeout=2s):path

The options stand between the type and the colon, where lash has nothing, so that they are never read as
part of a path; commas inside the parentheses do not separate entries. A plugin takes them as
``name = plugin(on_error=deny, timeout=2s):/path``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from string import ascii_lowercase
from types import MappingProxyType
from typing import Literal

from hookline.core._dataclass import dataclass
from hookline.core.hook import HookSpec, Matcher, Mode, OnFailure, Pattern, Plugin

#: Type -> the mode it runs in and the seconds it gets. An observer gets the event and is not waited for, not even
#: at the end of a command, and cannot influence the action.
TYPES: Mapping[str, tuple[Mode, float | None]] = MappingProxyType(
    {
        "observe": ("detached", None),
        "blocking": ("sync", 5.0),
        "fire_and_forget": ("detached", None),
        "async_apply": ("apply-later", 60.0),
    }
)

ON_ERROR: Mapping[str, OnFailure] = MappingProxyType({"allow": "ignore", "deny": "deny"})

_ENTRY = re.compile(r"\s*(?P<type>[A-Za-z_]+)(?:\((?P<options>[^()]*)\))?:(?P<path>[^,]*)(?:,|$)")
_ANY = re.compile(r"(?P<text>[^,]*)(?:,|$)")
_COMMENT = re.compile(r"(?:^|\s)#.*$", re.DOTALL)
_DURATION = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m|h|)", re.IGNORECASE)
_UNITS: Mapping[str, float] = MappingProxyType({"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "h": 3600.0})


@dataclass(frozen=True, slots=True, kw_only=True)
class LashOptions:
    """None: not written, so the default of the type applies."""

    on_failure: OnFailure | None = None
    timeout: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LashEntry:
    """What was written; ``type`` "" marks text that is not an entry. ``findings`` are about its options only."""

    text: str
    type: str = ""
    path: str = ""
    options: LashOptions = LashOptions()
    findings: tuple[str, ...] = ()


def without_comment(value: str) -> str:
    """``#`` starts a comment at the start or after white space; elsewhere it is part of a path."""
    return _COMMENT.sub("", value).strip()


def parse_entries(value: str) -> Iterator[LashEntry]:
    """Every entry of a line, left to right, the bad ones too."""
    value = without_comment(value)
    place = 0
    while place < len(value) or not value:
        found = _ENTRY.match(value, place)
        if found is None:
            other = _ANY.match(value, place)
            assert other is not None, "the pattern matches the empty text"
            yield LashEntry(text=other["text"].strip())
            place = max(other.end(), place + 1)
        else:
            text = found[0].strip().removesuffix(",").strip()
            options, findings = parse_options(found["options"] or "")
            yield LashEntry(
                text=text, type=found["type"], path=found["path"].strip(), options=options, findings=tuple(findings)
            )
            place = max(found.end(), place + 1)
        if not value:
            return


def parse_options(text: str) -> tuple[LashOptions, list[str]]:
    """Invalid options are reported and left out; the others apply."""
    on_failure: OnFailure | None = None
    timeout: float | None = None
    findings: list[str] = []
    for item in filter(None, (part.strip() for part in text.split(","))):
        name, _, value = (part.strip() for part in item.partition("="))
        if name == "on_error" and value in ON_ERROR:
            on_failure = ON_ERROR[value]
        elif name == "timeout" and (seconds := parse_seconds(value)) is not None:
            timeout = seconds
        else:
            findings.append(f"bad option {item!r}")
    return LashOptions(on_failure=on_failure, timeout=timeout), findings


def parse_seconds(value: object) -> float | None:
    """``2s``, ``80ms``, ``1m`` or a number of seconds; None for anything else, and for nothing at all."""
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value) if 0 < value < float("inf") else None
    found = _DURATION.fullmatch(value.strip()) if isinstance(value, str) else None
    if found is None:
        return None
    seconds = float(found[1]) * _UNITS[found[2].lower()]
    return seconds if 0 < seconds < float("inf") else None


def options_text(options: LashOptions) -> str:
    """The inverse of ``parse_options``: "" when everything is default."""
    parts: list[str] = []
    if options.on_failure is not None:
        parts.append(f"on_error={'deny' if options.on_failure == 'deny' else 'allow'}")
    if options.timeout is not None:
        parts.append(f"timeout={duration_text(options.timeout)}")
    return f"({', '.join(parts)})" if parts else ""


def duration_text(seconds: float) -> str:
    whole = round(seconds * 1000)
    if abs(whole / 1000 - seconds) > 1e-12 or whole == 0:
        return f"{seconds:.12f}".rstrip("0").rstrip(".") + "s"
    return f"{whole // 1000}s" if whole % 1000 == 0 else f"{whole}ms"


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
