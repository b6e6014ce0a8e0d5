"""From a plugin's handshake to its hooks.

A placeholder made by ``config`` becomes one ``HookSpec`` per registration: first the entries of
``hook_config``, then every name in ``hooks`` that has no such entry. A name in both is one registration.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from hookline.core._dataclass import dataclass, field, replace
from hookline.core.event import EVENTS
from hookline.core.hook import FieldTest, HookSpec, Matcher, Plugin, hook_id
from hookline.core.problem import Problem, Severity
from hookline.dialects.base import Parsed
from hookline.dialects.lash.entry import ON_ERROR, TYPES, canonical_key, key_matcher, parse_seconds


def is_unexpanded(spec: HookSpec) -> bool:
    """Whether this is a plugin whose hooks are not known yet."""
    return bool(spec.extra.get("unexpanded")) and isinstance(spec.action, Plugin)


def expand_plugins(specs: Iterable[HookSpec], handshake_of: Callable[[Plugin], Mapping[str, Any] | str]) -> Parsed:
    """Every placeholder replaced, at its place in the order; a text from ``handshake_of`` is what went wrong."""
    expanded: list[HookSpec] = []
    problems: list[Problem] = []
    for spec in specs:
        if not is_unexpanded(spec):
            expanded.append(spec)
            continue
        assert isinstance(spec.action, Plugin), "is_unexpanded says so"
        answer = handshake_of(spec.action)
        parsed = _failed(spec, answer) if isinstance(answer, str) else expand(spec, answer)
        expanded.extend(parsed.specs)
        problems.extend(parsed.problems)
    return Parsed(specs=tuple(expanded), problems=tuple(problems))


def expand(spec: HookSpec, handshake: Mapping[str, Any]) -> Parsed:
    """The hooks that the plugin of ``spec`` declared. Invalid declarations are reported, the others apply."""
    reading = _Reading(spec=spec)
    entries = list(_entries(reading, handshake))
    configured = {event for event, _ in entries}
    plain = dict.fromkeys(name for name in _names(reading, handshake) if name not in configured)
    entries.extend((name, {}) for name in plain)
    specs = [hook for ordinal, (event, entry) in enumerate(entries) for hook in _hook(reading, ordinal, event, entry)]
    return Parsed(specs=tuple(specs), problems=tuple(reading.problems))


def describe_plugin(name: str, handshake: Mapping[str, Any]) -> Mapping[str, Any]:
    """The answer to ``plugin.describe`` for a plugin that does not answer it itself."""
    listed = {word: _texts(handshake.get(word)) for word in ("hooks", "methods", "completions")}
    configured = [entry.get("event") for entry in _objects(handshake.get("hook_config"))]
    listed["hooks"] = list(dict.fromkeys([*_texts(configured), *listed["hooks"]]))
    return {"name": name, "description": "", "version": str(handshake.get("version", "")), **listed}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Reading:
    spec: HookSpec
    problems: list[Problem] = field(default_factory=list)

    def report(self, pointer: str, finding: str, fix: str, severity: Severity = "error") -> None:
        where = replace(self.spec.origin, pointer=f"{self.spec.origin.pointer}.handshake.{pointer}")
        self.problems.append(where.problem(f"plugin {self.spec.name}: {finding}", fix, severity))


def _failed(spec: HookSpec, error: str) -> Parsed:
    finding = f"plugin {spec.name} did not load: {error.removeprefix(f'plugin {spec.name}: ')}"
    fix = "start it by hand with a socket path as its argument to see its messages"
    return Parsed(problems=(spec.origin.problem(finding, fix),))


def _entries(reading: _Reading, handshake: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The good entries of ``hook_config``."""
    given = handshake.get("hook_config")
    if given is not None and not isinstance(given, list):
        reading.report("hook_config", "hook_config is not a list", "send a list of objects with an event")
    for index, entry in enumerate(_items(given)):
        event = entry.get("event") if isinstance(entry, dict) else None
        if not isinstance(event, str):
            reading.report(f"hook_config[{index}]", "an entry without an event", 'send {"event": …, "mode": …}')
        elif _known(reading, f"hook_config[{index}].event", event):
            yield event, entry


def _names(reading: _Reading, handshake: Mapping[str, Any]) -> Iterator[str]:
    """The good names in ``hooks``."""
    given = handshake.get("hooks")
    if given is not None and not isinstance(given, list):
        reading.report("hooks", "hooks is not a list", "send a list of event names")
    for index, name in enumerate(_items(given)):
        if not isinstance(name, str):
            reading.report(f"hooks[{index}]", f"{name!r} is not an event", "send the event's name")
        elif _known(reading, f"hooks[{index}]", name):
            yield name


def _known(reading: _Reading, pointer: str, event: str) -> bool:
    if event in EVENTS:
        return True
    reading.report(pointer, f"unknown event {event}", "for the events there are, type: hookline list --events")
    return False


def _hook(reading: _Reading, ordinal: int, event: str, entry: Mapping[str, Any]) -> Iterator[HookSpec]:
    pointer = f"hook_config[{ordinal}]"
    declared = entry.get("mode", "blocking")
    if not isinstance(declared, str) or declared not in TYPES:
        reading.report(f"{pointer}.mode", f"bad mode {declared!r} on {event}", f"send one of {', '.join(TYPES)}")
        return
    keys = _keys(reading, pointer, event, entry)
    mode, seconds = TYPES[declared]
    spec, plugin = reading.spec, reading.spec.action
    assert isinstance(plugin, Plugin), "only a plugin is expanded"
    on_error = spec.extra.get("on_failure") or ON_ERROR.get(str(entry.get("on_error")))
    timeout = spec.extra.get("timeout") or parse_seconds(entry.get("timeout"))
    yield replace(
        spec,
        id=hook_id(spec.origin.file, spec.origin.pointer, event, ordinal),
        event=event,
        native_event=event,
        action=replace(plugin, keys=keys),
        matcher=_others(plugin.name) if event == "plugin.message" else key_matcher(keys),
        mode=mode,
        timeout=timeout or seconds,
        on_failure=(on_error or "ignore") if mode == "sync" else "ignore",
        extra=MappingProxyType(
            {"type": declared, "plugin": spec.id, "written": spec.extra.get("written", plugin.path)}
        ),
    )


def _keys(reading: _Reading, pointer: str, event: str, entry: Mapping[str, Any]) -> frozenset[str] | None:
    """None for all keys; a bad name is left out, so a list of bad names only is no key at all."""
    given = entry.get("keys")
    if given is None:
        return None
    if event != "input.key":
        reading.report(f"{pointer}.keys", f"keys ignored on {event}", "only input.key is filtered by keys", "warning")
        return None
    if not isinstance(given, list):
        reading.report(f"{pointer}.keys", f"keys is {given!r}, not a list", "send a list of key names")
        return frozenset()
    good: set[str] = set()
    for index, name in enumerate(given):
        key = canonical_key(name) if isinstance(name, str) else None
        if key is None:
            reading.report(
                f"{pointer}.keys[{index}]",
                f"bad key {name!r}",
                "send one character, ctrl+a to ctrl+z, or a name such as up, enter or shift+tab",
            )
        else:
            good.add(key)
    return frozenset(good)


def _others(name: str) -> Matcher:
    """A message is not sent back to the plugin it came from."""
    return Matcher(fields=(FieldTest(path="name", equals=name, negate=True),))


def _items(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _texts(value: Any) -> list[str]:
    return [item for item in _items(value) if isinstance(item, str)]


def _objects(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in _items(value) if isinstance(item, dict)]
