"""An entry of ours in an agent's file, and what is to be one."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.own_registration import is_ours


@dataclass(frozen=True, slots=True, kw_only=True)
class Registration:
    """One entry of an agent's file: ``entry`` is what stands in the list of the native event."""

    event: str
    entry: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class OwnEntry:
    """An entry of ours that is there."""

    event: str
    value: Any


def entry_commands(entry: Any) -> Iterator[str]:
    """The command lines in an entry, grouped or flat, and the addresses that an earlier version let it post to."""
    if not isinstance(entry, dict):
        return
    inner, action = entry.get("hooks"), entry.get("action")
    for hook in inner if isinstance(inner, list) else [action if isinstance(action, dict) else entry]:
        for name in ("command", "bash", "url"):
            if isinstance(hook, dict) and isinstance(hook.get(name), str):
                yield hook[name]


def is_own(entry: Any) -> bool:
    return any(map(is_ours, entry_commands(entry)))


def entry_event(entry: Any) -> str:
    """The event that an entry of a list is for, under the names that agents have for it."""
    found = (entry.get(name) for name in ("event", "trigger", "type") if isinstance(entry, dict))
    return next((one for one in found if isinstance(one, str)), "")


def member_value(wanted: Any, form: Any) -> Any:
    """All of them as the value of the file's member: a list for each event, or one list."""
    if form.form == "list":
        return [one.entry for one in wanted]
    hooks: dict[str, list[Any]] = {}
    for one in wanted:
        hooks.setdefault(one.event, []).append(one.entry)
    return hooks


def others(tree: Any, form: Any) -> Any:
    """Everything in a parsed file that is not ours; an empty list or object of hooks says nothing."""
    if not isinstance(tree, dict):
        return tree, None
    rest = dict(tree)
    hooks = rest.pop(form.key, None) if form.key else tree
    if isinstance(hooks, list):
        return rest, [one for one in hooks if not is_own(one)] or None
    if not isinstance(hooks, dict):
        return rest, hooks or None
    left = {
        event: [one for one in entries if not is_own(one)] if isinstance(entries, list) else entries
        for event, entries in hooks.items()
    }
    return (rest if form.key else None), {event: entries for event, entries in left.items() if entries} or None
