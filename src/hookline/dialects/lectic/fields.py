"""The nine fields of a hook: what may stand in each, in the words of Lectic's own messages."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass
from hookline.dialects.lectic.events import ALL_NAMES, NATIVE
from hookline.dialects.lectic.tree import plain

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.dialects.lectic.tree import YamlNode

_MODES = ("sync", "background", "detached")
_PLACEMENTS = ("attachment", "comment")

NO_SHEBANG = "Expected shebang in first line of executable script"
EMPTY_COMMAND = "cmd must not be empty"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Flaw:
    """Something wrong with one hook; ``key`` is the field, "" for the hook as a whole."""

    key: str
    finding: str
    fix: str


def is_reference(item: YamlNode) -> bool:
    """Exactly ``{use: NAME}``."""
    return set(item.branch) == {"use"}


def flaws(item: YamlNode) -> Iterator[_Flaw]:
    """Everything wrong with the fields that are there. A partial hook may still be completed by a merge."""
    if item.value is None:
        yield _Flaw(key="", finding="Something went wrong, got null for hook", fix="remove the empty item")
        return
    if not isinstance(item.value, dict):
        got = f'Hook needs to be given with at least "on" and "do" fields. Got {_shown(item)} instead.'
        yield _Flaw(key="", finding=got, fix="write a mapping with on: and do:")
        return
    for key, child in item.branch.items():
        check = _CHECKS.get(key)
        if check is not None:
            finding, fits, fix = check
            if not fits(child.value):
                yield _Flaw(key=key, finding=finding, fix=fix)


def gaps(hook: YamlNode) -> Iterator[_Flaw]:
    """What a complete hook lacks, and what does not go together in it."""
    if "on" not in hook.branch:
        yield _Flaw(key="", finding='Hook needs to be given with an "on" field.', fix="add on: with an event name")
    if "do" not in hook.branch:
        yield _Flaw(
            key="", finding='Hook needs to be given with a "do" field.', fix="add do: with a command or a script"
        )
    mode = hook.branch.get("mode")
    inline = hook.branch.get("inline")
    if mode is not None and mode.value != "sync" and inline is not None and inline.value:
        finding = 'Only hooks with "mode: sync" can set "inline: true".'
        yield _Flaw(key="mode", finding=finding, fix="remove mode: or inline:")


def unknown_events(hook: YamlNode) -> Iterator[tuple[str, _Flaw]]:
    """Names in ``on`` that are no event, each with its place below the hook."""
    on = hook.branch["on"]
    single = not isinstance(on.value, tuple)
    for index, item in enumerate((on,) if single else on.items):
        if not (isinstance(item.value, str) and item.value in NATIVE):
            finding = f'Hook "on" needs to be one of {ALL_NAMES}.'
            place = ".on" if single else f".on[{index}]"
            yield place, _Flaw(key="on", finding=f"{finding} Got {_shown(item)}.", fix="use one of these names")


def event_names(hook: YamlNode) -> list[str]:
    on = hook.branch["on"]
    named = on.items if isinstance(on.value, tuple) else (on,)
    return [item.value for item in named if isinstance(item.value, str)]


def is_script(do: str) -> bool:
    """Several lines are a script. One line is a command, also when a YAML block gave it a line end."""
    return "\n" in do.strip() or do.startswith("#!")


def command_flaw(do: str) -> _Flaw | None:
    """What will make the hook fail whenever it runs. It stays loaded: a guard must not vanish."""
    if is_script(do) and not do.startswith("#!"):
        return _Flaw(key="do", finding=NO_SHEBANG, fix="begin the script with a line like #!/usr/bin/env bash")
    if not do.strip():
        return _Flaw(key="do", finding=EMPTY_COMMAND, fix="write a command")
    return None


def variable(value: Any) -> str | None:
    """A scalar of ``env`` as text, the way YAML writes it; None if it has no text."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, str | int | float):
        return str(value)
    # Dates: the one other scalar that YAML knows.
    return value.isoformat() if hasattr(value, "isoformat") else None


def _shown(item: YamlNode) -> str:
    try:
        text = json.dumps(plain(item), ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        text = f"a {type(item.value).__name__}"
    return text if len(text) <= 80 else text[:79] + "…"


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_text_or_list(value: Any) -> bool:
    return isinstance(value, str | tuple)


def _is_placement(value: Any) -> bool:
    return value in _PLACEMENTS if isinstance(value, str) else False


def _is_mapping(value: Any) -> bool:
    return isinstance(value, dict)


def _is_boolean(value: Any) -> bool:
    return isinstance(value, bool)


def _is_mode(value: Any) -> bool:
    return value in _MODES if isinstance(value, str) else False


_CHECKS = {
    "on": ('The "on" field of a hook must be a string or array of strings.', _is_text_or_list, "name one event or a list"),
    "do": ('Hook needs to be given with a "do" field.', _is_text, "write a command or a script as text"),
    "name": ('The "name" field of a hook must be a string.', _is_text, "quote the name"),
    "icon": ('The "icon" field of a hook must be a string.', _is_text, "quote the icon"),
    "inline_as": (
        'The "inline_as" field of a hook must be "attachment" or "comment".', _is_placement, "use one of the two",
    ),
    "env": ('The "env" field of a hook must be an object.', _is_mapping, "write NAME: value pairs"),
    "allow_failure": ('The "allow_failure" field of a hook must be a boolean.', _is_boolean, "write true or false"),
    "mode": (
        'The "mode" field of a hook must be "sync", "background", or "detached".', _is_mode, "use one of the three",
    ),
}  # fmt: skip
