"""The config face of our own dialect: ``[[hook]]`` tables of all layers, overridden by name, field by field.

A change that cannot be used is left out as a whole, and the hook stays as the layers below wrote it: a broken
layer never disables a hook of another.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hookline.core._dataclass import dataclass, field, replace
from hookline.core.event import EVENTS, event_kind
from hookline.core.hook import HookSpec
from hookline.core.problem import Problem
from hookline.dialects import dialect_named
from hookline.dialects.base import FOREIGN, ConfigPlace, Layer, Lookup, Parsed
from hookline.dialects.native.build import ACTION_KEYS, DETACHABLE, HookDraft, build
from hookline.dialects.native.fields import AGENT_FIELDS, HOOK_FIELDS, WHEN_FIELDS
from hookline.dialects.native.kinds import Address, did_you_mean, find_tables, read_table
from hookline.dialects.native.settings import SETTING_TABLES, default_timeouts

_TOP_LEVEL = ("hook", "hooks", "guard", "source", "pack", *SETTING_TABLES)
#: Editors put the address of the schema there.
_SCHEMA_KEYS = frozenset({"$schema"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Placed:
    """A spec, and where its hook was first written: layer number and line."""

    layer: int
    line: int
    spec: HookSpec


def places(cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    return ()


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:
    placed, problems = place(layers, lookup)
    return Parsed(specs=tuple(one.spec for one in placed), problems=problems)


def besides_hooks(tree: Any) -> tuple[Any, Sequence[str]]:
    """Settings and sources. What a source names is approved hook by hook, and a pack by its digest, so neither is part of
    them."""
    hooks = {"hook", "hooks", "guard", "pack"}
    return {key: value for key, value in tree.items() if key not in hooks} if isinstance(tree, dict) else {}, ()


def place(layers: Sequence[Layer], lookup: Lookup) -> tuple[tuple[_Placed, ...], tuple[Problem, ...]]:
    """Every hook at the position of its first definition, lowest layer first."""
    drafts = _Drafts()
    timeouts = default_timeouts(layers)
    for rank, layer in enumerate(layers):
        drafts.add_layer(rank, layer, timeouts[rank])
    placed: list[_Placed] = []
    problems = drafts.problems
    for key, draft in drafts.drafts.items():
        problems += _warnings(draft)
        line = draft.first.line
        placed += [_Placed(layer=drafts.ranks[key], line=line, spec=spec) for spec in build(draft, lookup)]
    for rank, layer in enumerate(layers):
        if isinstance(layer.tree, dict) and "guard" in layer.tree:
            from hookline.dialects.native.guard import guard_hooks

            guards, wrong = guard_hooks(layer)
            placed += [_Placed(layer=rank, line=spec.origin.line, spec=spec) for spec in guards]
            problems += wrong
    return tuple(placed), tuple(problems)


@dataclass(slots=True)
class _Drafts:
    """The hooks of all layers read so far."""

    drafts: dict[str, HookDraft] = field(default_factory=dict)
    ranks: dict[str, int] = field(default_factory=dict)
    problems: list[Problem] = field(default_factory=list)

    def add_layer(self, rank: int, layer: Layer, timeout: float) -> None:
        self.problems += _top_level(layer)
        seen: set[str] = set()
        for where, table in find_tables(layer, "hook", self.problems):
            values = _read_hook(table, where, self.problems)
            if values is None:
                continue
            key = _key(where, values)
            if key in seen:
                self.problems.append(where.problem(f"a second hook named {key!r} in this file", "give it another name"))
                continue
            seen.add(key)
            draft = _overlaid(self.drafts.get(key), values, where, timeout)
            found = list(_contradictions(draft, where))
            self.problems += found
            if not found:
                self.ranks.setdefault(key, rank)
                self.drafts[key] = draft


def _top_level(layer: Layer) -> Iterator[Problem]:
    where = Address(layer=layer)
    if not isinstance(layer.tree, dict):
        yield where.problem("the file is not a table", 'begin with "[[hook]]"')
        return
    for key in layer.tree:
        if key == "hooks" and not isinstance(layer.tree[key], dict):
            fix = "write [[hook]]; tables by event, like [hooks.session_start], are for hooks by name"
            # An error: guards that are written there are not loaded.
            yield where.at(key).problem("hooks must be tables by event; nothing in it is loaded", fix)
        elif key not in _TOP_LEVEL and key not in _SCHEMA_KEYS:
            yield where.at(str(key)).problem(f"unknown table {key!r}", did_you_mean(str(key), _TOP_LEVEL), "warning")


def _key(where: Address, values: dict[str, Any]) -> str:
    """What makes two tables the same hook: the name; without one, a table is a hook of its own."""
    return values.get("name") or f"{where.layer.path}\0{where.pointer}"


def _unnamed(where: Address) -> str:
    stem = os.path.splitext(os.path.basename(where.layer.path))[0]
    number = int(where.pointer.rpartition("[")[2].rstrip("]"))
    return f"{stem}#{number + 1}"


def _read_hook(table: dict[str, Any], where: Address, problems: list[Problem]) -> dict[str, Any] | None:
    """None when a value is wrong: a hook must not load weaker than it was written.

    An unknown event costs only itself, so that a guard on a good and a misspelled event still guards the good one.
    """
    read = read_table(table, HOOK_FIELDS, where)
    values, usable = dict(read.values), read.usable
    problems += read.problems
    for key, fields in (("when", WHEN_FIELDS), ("agent", AGENT_FIELDS)):
        if key in values:
            inner = read_table(values[key], fields, where.at(key))
            values[key] = inner.values
            usable = usable and inner.usable
            problems += inner.problems
    if "on" in values:
        values["on"] = _events(values["on"], where.at("on"), problems)
        usable = usable and bool(values["on"])
    return values if usable else None


def _events(given: tuple[str, ...], where: Address, problems: list[Problem]) -> tuple[str, ...]:
    """Known names, and ``agent:Name`` for events of agents that have no row of their own."""
    good: list[str] = []
    for name in given:
        agent, colon, native = name.partition(":")
        if name in EVENTS or (agent and colon and native):
            good.append(name)
        else:
            problems.append(where.problem(f"unknown event {name!r}", _event_fix(name)))
    return tuple(good)


def _event_fix(name: str) -> str:
    hint = did_you_mean(name, EVENTS)
    return hint if hint.endswith("?") else "for the events there are, type: hookline list --events"


# ── overriding ───────────────────────────────────────────────────────────────────────────────────────


def _overlaid(old: HookDraft | None, values: dict[str, Any], where: Address, timeout: float) -> HookDraft:
    """Field by field; a new action replaces the old one with its model."""
    acts = any(key in values for key in ACTION_KEYS)
    if old is None:
        places = dict.fromkeys(values, where)
        name = values.get("name") or _unnamed(where)
        return HookDraft(
            name=name, values=values, first=where, last=where, action_from=where, timeout=timeout, places=places
        )
    kept = {key: value for key, value in old.values.items() if not (acts and key in {*ACTION_KEYS, "model"})}
    foreign = where.layer.name in FOREIGN
    below = old.below or (old if foreign and old.last.layer.name not in FOREIGN else None)
    return replace(
        old,
        values={**kept, **values},
        last=where,
        action_from=where if acts else old.action_from,
        # A hook of the user keeps the timeout of its own layer, whatever a project sets.
        timeout=old.timeout if foreign else timeout,
        below=below,
        places={**old.places, **dict.fromkeys(values, where)},
    )


def _contradictions(draft: HookDraft, where: Address) -> Iterator[Problem]:
    """What makes a hook unusable although each of its fields is good."""
    acts = [key for key in ACTION_KEYS if key in draft.values]
    if not acts and not draft.values.get("on"):
        off = draft.values.get("enabled") is False
        yield where.problem(
            "this changes a hook that no lower layer has" if "name" in draft.values else "the hook is empty",
            "correct its name, or add on and an action",
            "warning" if off else "error",
        )
        return
    if not acts:
        yield where.problem("the hook does nothing", f"add one of {', '.join(ACTION_KEYS)}")
    elif len(acts) > 1:
        yield where.at(acts[1]).problem(
            f"more than one action: {', '.join(acts)}", "keep one; make the others hooks of their own"
        )
    if not draft.values.get("on"):
        yield where.problem("the hook names no event", 'add on = "PreToolUse", or another event')
    if len(acts) != 1:
        return
    action = draft.values[acts[0]]
    if draft.values.get("mode") in {"async", "detached"} and acts[0] not in DETACHABLE:
        yield where.at("mode").problem(f"{acts[0]} cannot be detached", 'use mode = "background"')
    if acts[0] == "python" and (fix := _function_fix(action)):
        yield where.at("python").problem(f"not a function: {action!r}", fix)
    if acts[0] == "script" and not action.startswith("#!"):
        yield where.at("script").problem("the script has no shebang line", 'begin it with "#!/bin/sh", or use shell')
    if acts[0] == "agent" and not action.get("prompt"):
        yield where.at("agent").problem("the agent has no prompt", 'add prompt = "…"')


def _function_fix(text: str) -> str:
    """What to write instead; "" where it is a module and a function. A file is named as the module that it is."""
    module, _, function = text.rpartition(":")
    if _dotted(module) and _dotted(function):
        return ""
    name = module.strip().removeprefix("./").removesuffix(".py").replace("/", ".")
    if _dotted(name) and _dotted(function.strip()):
        return f'write the module, not the file: "{name}:{function.strip()}"'
    return 'write "package.module:function"; the module is looked for in the project, or beside your own file'


def _dotted(name: str) -> bool:
    return all(part.isidentifier() for part in name.split("."))


def _warnings(draft: HookDraft) -> Iterator[Problem]:
    """What is allowed, but probably a mistake."""
    values = draft.values

    def at(key: str) -> Address:
        return draft.places.get(key, draft.last).at(key)

    for event in values["on"]:
        yield from _event_warnings(event, values, at)
    yield from _cost_warnings(values, at)
    if "model" in values and draft.action_key not in {"prompt", "agent"}:
        yield at("model").problem("model has no effect here", "leave it out; it belongs to prompt and agent", "warning")
    if draft.action_key == "http":
        yield from _secrets(draft, at("http"))


def _has_event(wire: str, event: str) -> bool:
    return event in dialect_named(wire).events.values()


def _event_warnings(event: str, values: Mapping[str, Any], at: Callable[[str], Address]) -> Iterator[Problem]:
    """Settings that have no effect on this event."""
    kind = event_kind(event)
    if values.get("on_failure") == "deny" and event in EVENTS and not kind.deniable:
        yield at("on_failure").problem(
            f"{event} cannot be denied, so a failure here stops nothing",
            'use on_failure = "ignore" or "abort"',
            "warning",
        )
    if (wire := values.get("dialect", "native")) != "native" and event in EVENTS and not _has_event(wire, event):
        yield at("dialect").problem(
            f"{wire} has no event {event}, so its fields are a guess", "leave it out", "warning"
        )
    if "" in (values.get("match") or {}) and event in EVENTS and kind.subject is None:
        yield at("match").problem(
            f"{event} has no subject to match, so the pattern is not applied to it",
            'match a field instead: match = { prompt = "…" }', "warning",
        )  # fmt: skip
    if values.get("over_budget", "report") != "report" and (
        kind.deniable or values.get("on_failure", "ignore") != "ignore"
    ):
        yield at("over_budget").problem(
            f"on {event} this hook can refuse, so it is only reported and never left out: a guard must not be lost"
            " because a machine is slow",
            "leave over_budget out, or put the part that never refuses into a hook of another event", "warning",
        )  # fmt: skip


def _cost_warnings(values: Mapping[str, Any], at: Callable[[str], Address]) -> Iterator[Problem]:
    """Settings of a hook's cost that have no effect."""
    if values.get("over_budget", "report") != "report" and "budget" not in values:
        yield at("over_budget").problem("over_budget without a budget has no effect", 'add budget = "50ms"', "warning")
    for key in ("cache", "over_budget"):
        if key in values and values.get("mode", "sync") != "sync":
            yield at(key).problem(
                f"{key} has no effect with mode = {values['mode']!r}",
                "leave it out",
                "warning",
            )


def _secrets(draft: HookDraft, where: Address) -> Iterator[Problem]:
    for name, value in draft.values["http"].headers:
        if name.lower() in {"authorization", "x-api-key", "cookie", "proxy-authorization"} and "$" not in value:
            yield where.problem(
                f"the value of the header {name} is in the file",
                'write "$NAME" and set NAME in the environment',
                "warning",
            )
