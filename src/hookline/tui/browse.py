"""Group and filter hooks: by event, dialect or source, and by words."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Literal

from hookline.core._dataclass import dataclass, replace
from hookline.core.event import EVENTS

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hookline.tui.catalog import Hook

_By = Literal["event", "dialect", "source"]
_BYS: tuple[_By, ...] = ("event", "dialect", "source")

#: The group that holds everything.
_ALL = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class View:
    """How to group, the chosen group, and a filter."""

    by: _By = "event"
    group: str = _ALL
    words: str = ""

    def next_grouping(self) -> View:
        """The next way to group."""
        return replace(self, by=_BYS[(_BYS.index(self.by) + 1) % len(_BYS)], group=_ALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    key: str
    label: str
    number: int


def groups(hooks: Sequence[Hook], view: View) -> tuple[Group, ...]:
    """Everything first, then every group with a hook: events in table order, others by name."""
    fitting = [hook for hook in hooks if _fits(hook, view.words)]
    numbers: dict[str, int] = {}
    for hook in fitting:
        for key in dict.fromkeys(_keys(hook, view.by)):
            numbers[key] = numbers.get(key, 0) + 1
    place = {name: number for number, name in enumerate(EVENTS)}
    ordered = sorted(numbers, key=lambda key: (place.get(key, len(place)), key))
    labels = {hook.origin.file: _source(hook) for hook in fitting} if view.by == "source" else {}
    everything = Group(key=_ALL, label="everything", number=len(fitting))
    return (everything, *(Group(key=key, label=labels.get(key, key), number=numbers[key]) for key in ordered))


def visible_hooks(hooks: Sequence[Hook], view: View) -> tuple[Hook, ...]:
    """The hooks of the chosen group that contain every word of the filter."""
    return tuple(
        hook for hook in hooks if _fits(hook, view.words) and (view.group == _ALL or view.group in _keys(hook, view.by))
    )


def _source(hook: Hook) -> str:
    """Short, for a narrow list; the details show the full path."""
    return f"{hook.origin.layer} {os.path.basename(hook.origin.file)}"


def _keys(hook: Hook, by: _By) -> tuple[str, ...]:
    match by:
        case "event":
            return hook.events
        case "dialect":
            return (hook.dialect,)
        case "source":
            return (hook.origin.file,)


def _fits(hook: Hook, words: str) -> bool:
    text = "\n".join((hook.name, *hook.events, hook.dialect, hook.origin.file, hook.action)).casefold()
    return all(word in text for word in words.casefold().split())
