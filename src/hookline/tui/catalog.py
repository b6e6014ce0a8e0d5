"""Every hook as a person sees it: one entry per definition, with all its events."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal

from hookline.core._dataclass import dataclass, empty, field, replace
from hookline.core.describe import action_text, matcher_text
from hookline.core.event import EVENTS
from hookline.core.hook import HookSpec, Origin, Prompt
from hookline.engine.match import in_order
from hookline.state.disabled import Switch, moment

if TYPE_CHECKING:
    from hookline.state.record.query import HookStats


_By = Literal["event", "dialect", "source"]
_BYS: tuple[_By, ...] = ("event", "dialect", "source")

#: The group that holds everything.
_ALL = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogView:
    """How to group, the chosen group, and a filter."""

    by: _By = "event"
    group: str = _ALL
    words: str = ""

    def next_grouping(self) -> CatalogView:
        """The next way to group."""
        return replace(self, by=_BYS[(_BYS.index(self.by) + 1) % len(_BYS)], group=_ALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    key: str
    label: str
    number: int


def groups(hooks: Sequence[Hook], view: CatalogView) -> tuple[Group, ...]:
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


def visible_hooks(hooks: Sequence[Hook], view: CatalogView) -> tuple[Hook, ...]:
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


_MARK = "✦"


@dataclass(frozen=True, slots=True, kw_only=True)
class Hook:
    """One definition. ``specs`` are its events, in running order; ``stats`` are by the ids of the specs."""

    specs: tuple[HookSpec, ...]
    trust: str = "own"
    switch: Switch | None = None
    stats: Mapping[str, HookStats] = field(default_factory=empty)

    @property
    def id(self) -> str:
        return self.specs[0].id

    @property
    def name(self) -> str:
        return self.specs[0].name

    @property
    def title(self) -> str:
        """The name; prompt hooks carry a mark."""
        return f"{_MARK} {self.name}" if isinstance(self.specs[0].action, Prompt) else self.name

    @property
    def dialect(self) -> str:
        return self.specs[0].dialect

    @property
    def origin(self) -> Origin:
        return self.specs[0].origin

    @property
    def events(self) -> tuple[str, ...]:
        return tuple(spec.event for spec in self.specs)

    @property
    def action(self) -> str:
        return action_text(self.specs[0])

    @property
    def match(self) -> str:
        return matcher_text(self.specs[0])

    @property
    def state(self) -> str:
        """``off``: disabled in its file; ``switched off``: by hookline hooks off."""
        if self.switch is not None:
            return "switched off"
        return "on" if any(spec.enabled for spec in self.specs) else "off"

    def state_text(self, now: float) -> str:
        until = self.switch.until if self.switch is not None else None
        return f"off until {moment(until, now)}" if until is not None else self.state

    @property
    def fired(self) -> int:
        return sum(one.fired for one in self.stats.values())

    @property
    def failures(self) -> int:
        return sum(one.failures for one in self.stats.values())

    @property
    def latest(self) -> HookStats | None:
        """Its statistics on the event that it ran on last."""
        return max(self.stats.values(), key=lambda one: one.last_time, default=None)

    @property
    def slowest(self) -> tuple[float, float] | None:
        """p50 and p95 in milliseconds, of the event on which it is slowest."""
        times = [(one.p50, one.p95) for one in self.stats.values() if one.fired]
        return max(times, key=lambda pair: pair[1], default=None)


def catalog(
    specs: Sequence[HookSpec],
    *,
    trust: Callable[[HookSpec], str] = lambda _spec: "own",
    switch: Callable[[HookSpec], Switch | None] = lambda _spec: None,
    stats: Mapping[str, HookStats],
) -> tuple[Hook, ...]:
    """One entry per definition, in the order in which their first events are declared."""
    grouped: dict[tuple[str, ...], list[HookSpec]] = {}
    for spec in in_order(specs):
        key = (spec.dialect, spec.origin.file, spec.origin.pointer, spec.name)
        grouped.setdefault(key, []).append(spec)
    declared = {spec.id: number for number, spec in enumerate(specs)}
    hooks = [
        Hook(
            specs=tuple(mine),
            trust=trust(mine[0]),
            switch=next((found for spec in mine if (found := switch(spec))), None),
            stats={spec.id: stats[spec.id] for spec in mine if spec.id in stats},
        )
        for mine in grouped.values()
    ]
    return tuple(sorted(hooks, key=lambda hook: min(declared[spec.id] for spec in hook.specs)))


def find_hooks(hooks: Sequence[Hook], word: str) -> tuple[Hook, ...]:
    """Hooks with this name, else those whose id begins with it."""
    by_name = tuple(hook for hook in hooks if hook.name == word)
    if by_name or len(word) < 4:
        return by_name
    return tuple(hook for hook in hooks if any(spec.id.startswith(word) for spec in hook.specs))
