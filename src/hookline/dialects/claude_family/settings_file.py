"""The settings file: ``hooks`` holds events, an event holds groups, a group holds a matcher and its hooks.

One bad group or hook is one problem, and only that one is dropped.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.core._dataclass import dataclass
from hookline.core.hook import Origin, hook_id
from hookline.core.own_registration import calls_hookline
from hookline.core.problem import Problem, ProblemCode, Severity
from hookline.core.suggest import nearest, suggest
from hookline.dialects.base import Layer


class Findings:
    """Every problem of one parse, each with its address."""

    __slots__ = ("_problems",)

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def report(
        self, layer: Layer, pointer: str, finding: str, fix: str, severity: Severity = "error",
        *, code: ProblemCode | None = None, name: str = "",
    ) -> None:  # fmt: skip
        self._problems.append(layer.origin(pointer).problem(finding, fix, severity, code=code, name=name))

    def all(self) -> tuple[Problem, ...]:
        return tuple(self._problems)


@dataclass(frozen=True, slots=True, kw_only=True)
class HookEntry:
    """One hook as it stands in a file: ``matcher`` None is an absent one."""

    layer: Layer
    event: str
    pointer: str
    matcher: str | None
    fields: Mapping[str, Any]
    findings: Findings

    def report(self, field: str, finding: str, fix: str, severity: Severity = "error") -> None:
        pointer = f"{self.pointer}.{field}" if field else self.pointer
        self.findings.report(self.layer, pointer, finding, fix, severity)

    def report_matcher(self, finding: str, fix: str, severity: Severity = "error") -> None:
        """The matcher stands in the group that holds the hook."""
        pointer = (self.pointer.rpartition(".hooks[")[0] or self.pointer) + ".matcher"
        self.findings.report(self.layer, pointer, f"matcher {show(self.matcher)}{finding}", fix, severity)

    @property
    def id(self) -> str:
        return hook_id(self.layer.path, self.pointer, self.event)

    @property
    def origin(self) -> Origin:
        return self.layer.origin(self.pointer)

    def text(self, name: str, *, required: bool) -> str | None:
        """A text that is not blank. None, with a problem, where it is wrong or missing and required."""
        value = self.fields.get(name)
        if isinstance(value, str) and value.strip():
            return value
        if value is not None or required:
            finding = f"{name} is missing" if value is None else f"{name} is {show(value)}"
            self.report(name, finding, f"write a text that is not empty for {name}")
        return None

    def flag(self, name: str) -> bool:
        """A switch that is off unless it is exactly true; anything but a boolean is a problem."""
        value = self.fields.get(name)
        if value is not None and not isinstance(value, bool):
            self.report(name, f"{name} is {show(value)}, not true or false", "write true or false")
        return value is True

    def seconds(self, default: float, *, per_second: int) -> float:
        """The timeout. A bad one does not disable the hook, which may be a guard: it gets the default."""
        value = self.fields.get("timeout")
        if value is None:
            return default
        amount = _number(value)
        if amount is not None and math.isfinite(amount) and amount / per_second > 0:
            return amount / per_second
        unit = "milliseconds" if per_second == 1000 else "seconds"
        self.report("timeout", f"timeout is {show(value)}", f"write {unit} greater than 0; {default:g} s are used")
        return default

    def check_fields(self, known: frozenset[str]) -> None:
        for name in sorted(self.fields.keys() - known):
            near = nearest(name, known)
            fix = f"did you mean {near!r}?" if near else "remove it"
            self.report(name, f"unknown field {name!r} has no effect", fix, "warning")


def as_object(value: Any) -> Mapping[str, Any] | None:
    return cast("dict[str, Any]", value) if isinstance(value, dict) else None


def show(value: Any) -> str:
    """What was found, in words short enough for one line."""
    text = repr(value)
    return text if len(text) <= 60 else f"{text[:57]}..."


def hooks_object(layer: Layer, findings: Findings, key: str = "hooks") -> Mapping[str, Any]:
    """The object of events in a file; ``key`` "" is the file itself. A file without one simply has no hooks."""
    if layer.tree is None:
        return {}
    tree = as_object(layer.tree)
    if tree is None:
        findings.report(layer, "$", "the file is not a JSON object", 'write {"hooks": {...}}')
        return {}
    if not key or tree.get(key) is None:
        return {} if key else tree
    hooks = as_object(tree[key])
    if hooks is None:
        findings.report(layer, f"$.{key}", f"{key} is {show(tree[key])}", "write an object with one key per event")
        return {}
    return hooks


def check_events(
    layer: Layer, known: Iterable[str], findings: Findings, switches: Sequence[str] = (), key: str = "hooks"
) -> None:
    for name in (as_object(layer.tree) or {}).keys() & set(known) if key else ():
        finding = f"{name} is beside {key!r}, not in it: its hooks never fire"
        findings.report(layer, f"$.{name}", finding, f'write {{"{key}": {{"{name}": [...]}}}}', "warning")
    for name in hooks_object(layer, Findings(), key):
        if name not in known and name not in switches:
            finding = f"unknown event {name!r}: its hooks never fire"
            findings.report(layer, _pointer_to(key, name), finding, suggest(name, known), "warning")


def _pointer_to(key: str, event: str) -> str:
    return f"$.{key}.{event}" if key else f"$.{event}"


def entries(
    layer: Layer, findings: Findings, switches: Sequence[str] = (), beside: frozenset[str] = frozenset(),
    *, key: str = "hooks", flat: bool = False,
) -> Iterator[HookEntry]:  # fmt: skip
    """Every hook of one file in order, but no call of hookline itself.

    ``switches`` are keys beside the events, ``beside`` further keys of a group. ``flat``: a hook that is no group has
    its own matcher.
    """
    for event, groups in hooks_object(layer, findings, key).items():
        if event in switches:
            continue
        pointer = _pointer_to(key, event)
        if not isinstance(groups, list):
            fix = 'write a list: [{"matcher": "...", "hooks": [...]}]'
            findings.report(layer, pointer, f"{event} is {show(groups)}, not a list", fix)
            continue
        listed: list[Any] = groups
        for position, group in enumerate(listed):
            place = f"{pointer}[{position}]"
            if flat and "hooks" not in (as_object(group) or {}):
                yield from flat_entry(layer, findings, event, place, group)
            else:
                yield from _of_group(layer, findings, event, place, group, beside=beside)


def flat_entry(layer: Layer, findings: Findings, event: str, pointer: str, hook: Any) -> Iterator[HookEntry]:
    """A hook that stands for itself."""
    fields = as_object(hook)
    if fields is None:
        findings.report(layer, pointer, f"the hook is {show(hook)}, not an object", 'write {"command": "..."}')
    elif not calls_hookline(fields):
        matcher = fields.get("matcher")
        matcher = matcher if isinstance(matcher, str) and matcher else None
        yield HookEntry(layer=layer, event=event, pointer=pointer, matcher=matcher, fields=fields, findings=findings)


def _of_group(
    layer: Layer, findings: Findings, event: str, pointer: str, group: Any, *, beside: frozenset[str]
) -> Iterator[HookEntry]:
    fields = as_object(group)
    if fields is None or not isinstance(fields.get("hooks"), list):
        fix = 'write {"matcher": "...", "hooks": [{"type": "command", "command": "..."}]}'
        findings.report(layer, pointer, "the group has no list of hooks", fix)
        return
    matcher = fields.get("matcher")
    if matcher is not None and not isinstance(matcher, str):
        fix = "write a tool name, a pattern, or leave it out"
        findings.report(layer, f"{pointer}.matcher", f"matcher is {show(matcher)}, not a text", fix)
        return
    for unknown in sorted(fields.keys() - {"matcher", "hooks"} - beside):
        findings.report(layer, f"{pointer}.{unknown}", f"unknown field {unknown!r}", "remove it", "warning")
    for position, hook in enumerate(fields["hooks"]):
        place = f"{pointer}.hooks[{position}]"
        found = as_object(hook)
        if found is None:
            fix = 'write {"type": "command", "command": "..."}'
            findings.report(layer, place, f"the hook is {show(hook)}, not an object", fix)
            continue
        if calls_hookline(found):
            continue
        yield HookEntry(layer=layer, event=event, pointer=place, matcher=matcher, fields=found, findings=findings)


def _number(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        return float(value)
    except (ValueError, OverflowError):
        return None
