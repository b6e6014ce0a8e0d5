"""Change one hook in a settings file of this family, in the file's own formatting. Pure: text in, text out."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.json_edit import JsonError, JsonNode, add_child, detect_style, remove_child, scan

_PLACE = re.compile(r"\$\.hooks\.(.+)\[(\d+)\]\.hooks\[(\d+)\]")
_SECONDS = re.compile(r"(\d+(?:\.\d+)?)\s*(ms|s|m)?")
_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, None: 1.0}


_OURS = ("type", "command", "prompt", "model", "timeout")
_NO_FIELDS: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True, slots=True, kw_only=True)
class _SettingsRules:
    """How this dialect writes its files: the unit of a timeout, and the key that switches off every hook."""

    per_second: int
    switch: tuple[str, ...]


RULES: Mapping[str, _SettingsRules] = MappingProxyType(
    {
        "letta": _SettingsRules(per_second=1000, switch=("hooks", "disabled")),
        "claude": _SettingsRules(per_second=1, switch=("disableAllHooks",)),
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenHook:
    """A hook as a person fills it in. Empty fields are left out, so that the defaults apply."""

    event: str
    kind: Literal["command", "prompt"] = "command"
    text: str = ""
    matcher: str = ""
    #: ``5s``, ``500ms``, ``2m``.
    timeout: str = ""
    model: str = ""

    def fields(self, rules: _SettingsRules) -> dict[str, Any]:
        found: dict[str, Any] = {"type": self.kind, self.kind: self.text}
        if self.kind == "prompt" and self.model:
            found["model"] = self.model
        if self.timeout:
            found["timeout"] = _amount(self.timeout, rules)
        return found


def _amount(text: str, rules: _SettingsRules) -> Any:
    """In the file's unit; what is no time is written as it is, and the loader says what is wrong with it."""
    found = _SECONDS.fullmatch(text.strip())
    if found is None:
        return text
    amount = float(found[1]) * _UNITS[found[2]] * rules.per_second
    return int(amount) if amount == int(amount) else amount


def add_hook(text: str, hook: WrittenHook, rules: _SettingsRules, more: Mapping[str, Any] = _NO_FIELDS) -> str:
    """At the end of its event, as a group of its own, with ``more`` fields. Raises ``JsonError``."""
    text = text if text.strip() else "{}\n"
    group: dict[str, Any] = {"matcher": hook.matcher} if hook.matcher else {}
    group["hooks"] = [{**hook.fields(rules), **more}]
    root, style = _object(scan(text), "the file"), detect_style(text)
    hooks = root.member("hooks")
    if hooks is None:
        return add_child(text, root, {hook.event: [group]}, depth=0, style=style, key="hooks")
    groups = _object(hooks, "hooks").member(hook.event)
    if groups is None:
        return add_child(text, hooks, [group], depth=1, style=style, key=hook.event)
    if groups.kind != "array":
        raise JsonError(f"hooks.{hook.event} is not a list")
    return add_child(text, groups, group, depth=2, style=style)


def _object(node: JsonNode, what: str) -> JsonNode:
    if node.kind != "object":
        raise JsonError(f"{what} is not an object")
    return node


@dataclass(frozen=True, slots=True, kw_only=True)
class _Place:
    """Where a hook stands: each of these holds the next."""

    hooks: JsonNode
    groups: JsonNode
    group: JsonNode
    inner: JsonNode
    hook: JsonNode


def _find(text: str, pointer: str) -> _Place:
    found = _PLACE.fullmatch(pointer)
    try:
        assert found is not None
        hooks = scan(text).member("hooks")
        assert hooks is not None
        groups = hooks.member(found[1])
        assert groups is not None
        group = groups.children[int(found[2])]
        inner = group.member("hooks")
        assert inner is not None
        hook = _object(inner.children[int(found[3])], "the hook")
    except (AssertionError, IndexError):
        raise JsonError(f"there is no hook at {pointer} any more") from None
    return _Place(hooks=hooks, groups=groups, group=group, inner=inner, hook=hook)


def read_hook(text: str, pointer: str, rules: _SettingsRules) -> WrittenHook:
    """The hook at this place, to be changed. Raises ``JsonError``."""
    place = _find(text, pointer)
    fields, matcher = place.hook.plain(), place.group.plain().get("matcher")
    timeout = fields.get("timeout")
    seconds = timeout / rules.per_second if isinstance(timeout, int | float) else timeout
    kind: Literal["command", "prompt"] = "prompt" if fields.get("type") == "prompt" else "command"
    return WrittenHook(
        event=place.groups.key, kind=kind, text=str(fields.get(kind, "")), model=str(fields.get("model", "")),
        matcher=matcher if isinstance(matcher, str) else "",
        timeout="" if seconds is None else f"{seconds:g}s" if isinstance(seconds, int | float) else str(seconds),
    )  # fmt: skip


def remove_hook(text: str, pointer: str) -> str:
    """Without this hook; a group, an event and the list of hooks that are empty then go too. Raises ``JsonError``."""
    place = _find(text, pointer)
    if len(place.inner.children) > 1:
        return remove_child(text, place.inner, place.hook)
    if len(place.groups.children) > 1:
        return remove_child(text, place.groups, place.group)
    return remove_child(text, place.hooks, place.groups)


def change_hook(text: str, pointer: str, hook: WrittenHook, rules: _SettingsRules) -> str:
    """In its place, field by field. Another event, or another matcher than its neighbours have, makes it a group of its
    own. Raises ``JsonError``."""
    place = _find(text, pointer)
    old = read_hook(text, pointer, rules)
    alone = len(place.inner.children) == 1
    if hook.event != old.event or (hook.matcher != old.matcher and not alone):
        more = {key: value for key, value in place.hook.plain().items() if key not in _OURS}
        return add_hook(remove_hook(text, pointer), hook, rules, more)
    wanted = hook.fields(rules)
    for key in _OURS:
        text = _set(text, _find(text, pointer).hook, key, wanted.get(key), depth=5)
    if hook.matcher != old.matcher:
        text = _set(text, _find(text, pointer).group, "matcher", hook.matcher or None, depth=3)
    return text


def _set(text: str, node: JsonNode, key: str, value: Any, *, depth: int) -> str:
    """One member of an object: replaced in its place, added at the end, or (None) removed."""
    there = node.member(key)
    if there is None:
        if value is None:
            return text
        return add_child(text, node, value, depth=depth, style=detect_style(text), key=key)
    if value is None:
        return remove_child(text, node, there)
    return (
        text
        if there.plain() == value
        else text[: there.start] + json.dumps(value, ensure_ascii=False) + text[there.end :]
    )


def switch_all(text: str, rules: _SettingsRules, *, off: bool) -> str:
    """Switch every hook off, or on again. Raises ``JsonError``."""
    text = text if text.strip() else "{}\n"
    root = _object(scan(text), "the file")
    *outer, key = rules.switch
    if not outer:
        return _set(text, root, key, True if off else None, depth=0)
    inner = root.member(outer[0])
    if inner is None:
        return add_child(text, root, {key: off}, depth=0, style=detect_style(text), key=outer[0]) if off else text
    return _set(text, _object(inner, outer[0]), key, True if off else None, depth=1)


def all_off(text: str, rules: _SettingsRules) -> bool:
    node: Any = scan(text).plain() if text.strip() else {}
    for key in rules.switch:
        node = node.get(key) if isinstance(node, dict) else None
    return node is True
