"""Hooks as a ``lectic.yaml``; what Lectic does not support is a loss with an address."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.core._dataclass import dataclass, field
from hookline.core.problem import Problem
from hookline.dialects.base import Rendered
from hookline.dialects.lectic.commands import render_do
from hookline.dialects.lectic.events import BASE_EVENTS, NATIVE
from hookline.dialects.lectic.losses import find_losses, may_refuse
from hookline.dialects.lectic.yaml_text import yaml_text

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookline.core.hook import HookSpec


@dataclass(slots=True, kw_only=True)
class _Person:
    """An interlocutor, as far as hooks need it."""

    hooks: list[dict[str, Any]] = field(default_factory=list[dict[str, Any]])
    tools: dict[str, list[dict[str, Any]]] = field(default_factory=dict[str, list[dict[str, Any]]])


def render(specs: Sequence[HookSpec]) -> Rendered:
    """Specs of one hook become one entry again; scopes become interlocutors and their tools."""
    losses: list[Problem] = []
    top: list[dict[str, Any]] = []
    people: dict[str, _Person] = {}
    active = next((name for spec in specs if (name := _active(spec))), "")
    people.update((name, _Person()) for name in _people(specs, active))
    for group in _groups(specs):
        losses += find_losses(group)
        entry = _entry(group, losses)
        if entry is not None:
            _place(group[0], entry, top, people, active)
    model = next((spec.extra["model"] for spec in specs if spec.dialect == "lectic" and spec.extra.get("model")), None)
    tree = _tree(top, people, active, model)
    return Rendered(text=yaml_text(tree), losses=tuple(losses))


def _people(specs: Sequence[HookSpec], active: str) -> list[str]:
    """Everybody in the order they were written: the active one first, then as their hooks and tools say."""
    speaking = [spec.scope.name for spec in specs if spec.scope.kind == "interlocutor"]
    found = list(dict.fromkeys(name for name in (active, *speaking) if name))
    after = 1 if active else 0
    for owner in dict.fromkeys(_owner(spec) for spec in specs if spec.scope.kind == "tool" and _owner(spec)):
        if owner not in found:
            found.insert(after, owner)
        after = found.index(owner) + 1
    return found


def _groups(specs: Sequence[HookSpec]) -> Iterator[list[HookSpec]]:
    """The specs that were written as one hook, in declared order."""
    groups: dict[tuple[Any, ...], list[HookSpec]] = {}
    for spec in specs:
        key = (spec.dialect, spec.origin.file, spec.origin.pointer, spec.scope, _owner(spec), spec.name, spec.action)
        groups.setdefault(key, []).append(spec)
    yield from groups.values()


def _entry(group: list[HookSpec], losses: list[Problem]) -> dict[str, Any] | None:
    spec = group[0]
    do = render_do(spec.action)
    names = _event_names(group)
    if do is None or not names:
        what = "its action" if do is None else f"its event {spec.event}"
        losses.append(_loss(spec, f"Lectic cannot say {what}, so the hook is left out"))
        return None
    entry: dict[str, Any] = {}
    if name := _name(spec):
        entry["name"] = name
    entry["on"] = names[0] if len(names) == 1 else names
    entry["do"] = do
    return entry | _options(group)


def _options(group: list[HookSpec]) -> dict[str, Any]:
    spec = group[0]
    found: dict[str, Any] = {}
    placements = [one.output.inject for one in group if one.output.inject != "none"]
    if placements:
        found["inline"] = True
        if placements[0] == "comment":
            found["inline_as"] = "comment"
    if spec.output.icon:
        found["icon"] = spec.output.icon
    if spec.environ:
        found["env"] = dict(spec.environ)
    if spec.on_failure == "ignore" and not may_refuse(group):
        found["allow_failure"] = True
    if spec.mode in ("background", "detached"):
        found["mode"] = spec.mode
    return found


def _name(spec: HookSpec) -> str:
    """A name that was made up from the command is not written down."""
    return spec.output.label if spec.dialect == "lectic" else spec.name


def _event_names(group: list[HookSpec]) -> list[str]:
    native = (one.native_event if one.dialect == "lectic" else BASE_EVENTS.get(one.event, "") for one in group)
    return [name for name in dict.fromkeys(native) if name in NATIVE]


def _active(spec: HookSpec) -> str:
    if spec.dialect == "lectic" and spec.extra.get("interlocutor"):
        return str(spec.extra["interlocutor"])
    return spec.scope.name if spec.scope.kind == "interlocutor" and spec.scope.default else ""


def _owner(spec: HookSpec) -> str:
    """The interlocutor whose tool this hook stands on."""
    for test in spec.matcher.fields:
        if test.path == "interlocutor" and test.pattern is not None and test.pattern.options:
            return test.pattern.options[0]
    return ""


def _place(
    spec: HookSpec, entry: dict[str, Any], top: list[dict[str, Any]], people: dict[str, _Person], active: str
) -> None:
    match spec.scope.kind:
        case "everywhere":
            top.append(entry)
        case "interlocutor":
            people.setdefault(spec.scope.name, _Person()).hooks.append(entry)
        case "tool":
            owner = _owner(spec) or active or "Assistant"
            person = people.setdefault(owner, _Person())
            person.tools.setdefault(spec.scope.name, []).append(entry)


def _tree(top: list[dict[str, Any]], people: dict[str, _Person], active: str, model: str | None) -> dict[str, Any]:
    written: list[dict[str, Any]] = []
    for name, person in people.items():
        one: dict[str, Any] = {"name": name, "prompt": ""}
        if name == active and model:
            one["model"] = model
        if person.hooks:
            one["hooks"] = person.hooks
        if person.tools:
            one["tools"] = [{"name": tool, "exec": tool, "hooks": hooks} for tool, hooks in person.tools.items()]
        written.append(one)
    tree: dict[str, Any] = {}
    if len(written) == 1:
        tree["interlocutor"] = written[0]
    elif written:
        tree["interlocutors"] = written
    return tree | {"hooks": top}


def _loss(spec: HookSpec, finding: str) -> Problem:
    origin = spec.origin
    return Problem(
        file=origin.file,
        line=origin.line,
        pointer=origin.pointer,
        finding=f"{spec.name}: {finding}",
        fix="keep it where it is",
    )
