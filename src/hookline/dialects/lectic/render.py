"""Hooks as a ``lectic.yaml``; what Lectic does not support is a loss with an address."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Sequence
from typing import Any, assert_never

import yaml

from hookline.core._dataclass import dataclass, field
from hookline.core.event import event_kind
from hookline.core.hook import Action, Command, Gates, HookSpec, Pattern
from hookline.core.problem import Problem
from hookline.dialects.base import Rendered
from hookline.dialects.lectic.build import TIMEOUT
from hookline.dialects.lectic.events import BASE_EVENTS, NATIVE
from hookline.dialects.lectic.validate import is_script


def _render_do(action: Action) -> str | None:
    """None for an action that is neither a command line nor a script."""
    if not isinstance(action, Command):
        return None
    match action.form:
        case "words":
            return action.text
        case "script":
            # One line without a shebang would be read as a command.
            return action.text if is_script(action.text) else None
        case "argv":
            return None if any("\n" in word for word in action.argv) else _line(action.argv)
        case "shell":
            return f"#!/bin/sh\n{action.text}" if "\n" in action.text else _line(("sh", "-c", action.text))
        case _:
            assert_never(action.form)


def _line(words: tuple[str, ...]) -> str:
    """Quoted so that it is split into the same words; single quotes keep variables as they are."""
    return " ".join(shlex.quote(word) for word in words)


def _find_losses(group: Sequence[HookSpec]) -> list[Problem]:
    """One finding for each thing that Lectic does not support, with the hook's address."""
    found = dict.fromkeys(text for spec in group for text in _lost(spec))
    spec = group[0]
    events = {one.event for one in group}
    if spec.dialect != "lectic" and len(events & {"PostToolUse", "PostToolUseFailure"}) == 1:
        found["Lectic fires tool_use_post for successful and failed calls alike"] = None
    if spec.on_failure == "ignore" and _may_refuse(group):
        found["in Lectic every failure of this hook refuses the call"] = None
    fix = "keep this hook in its own dialect and name the file as a [[source]]"
    return [spec.origin.problem(f"{spec.name}: {text}", fix) for text in found]


def _may_refuse(group: Sequence[HookSpec]) -> bool:
    """A hook of another system that can refuse. Lectic knows one exit code for "no" and for "broken", so such a hook
    must not be allowed to fail: a guard would become one that never refuses."""
    spec = group[0]
    return spec.dialect != "lectic" and spec.mode == "sync" and any(event_kind(one.event).deniable for one in group)


def _lost(spec: HookSpec) -> Iterator[str]:
    row = NATIVE.get(spec.native_event) if spec.dialect == "lectic" else None
    own_tests = (row.test,) if row and row.test else ()
    other = [test for test in spec.matcher.fields if test not in own_tests and test.path != "interlocutor"]
    if spec.dialect != "lectic":
        yield f"its program expects the input format of {spec.dialect}, and Lectic passes environment variables"
    if spec.matcher.subject != Pattern() or other:
        yield "matcher: not supported by Lectic"
    if spec.gates != (row.gates if row else Gates()):
        yield "when conditions: not supported by Lectic"
    if spec.order:
        yield "order: not supported by Lectic"
    if spec.mode in {"apply-later", "async"}:
        yield f"mode {spec.mode}: not supported by Lectic"
    if "timeout" not in spec.extra and spec.timeout != (None if spec.mode == "detached" else TIMEOUT):
        yield f"a timeout of {spec.timeout} seconds: not supported by Lectic"
    if spec.output.inject in ("context", "session"):
        yield f"output as {spec.output.inject}: not supported by Lectic"
    if spec.output.prefix:
        yield "prefix: not supported by Lectic"
    yield from _lost_policy(spec)


def _lost_policy(spec: HookSpec) -> Iterator[str]:
    base = BASE_EVENTS.get(spec.event, "")
    if spec.on_failure == "deny" and base != "tool_use_pre":
        yield "on_failure = deny: supported by Lectic before a tool only"
    if spec.on_failure == "abort" and base == "tool_use_pre" and spec.mode == "sync":
        yield "on_failure = abort: not supported by Lectic before a tool"
    if spec.flow == "parallel" and spec.dialect != "lectic":
        yield "running in parallel: not supported by Lectic"
    if spec.after_deny == "continue":
        yield "running later hooks after a refusal: not supported by Lectic"


#: What YAML 1.2 takes for a number and YAML 1.1 does not (0E0, 0o7); better too many quotes than too few.
_LIKE_A_NUMBER = re.compile(r"[-+]?(?:\.?[0-9]|\.(?:inf|nan))", re.IGNORECASE)


class _Dumper(yaml.SafeDumper):
    """Lectic reads YAML 1.2, where ``on`` is a word like any other."""

    def ignore_aliases(self, data: Any) -> bool:  # (the same text twice is clearer than an alias)
        return True


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    style = "|" if "\n" in text else '"' if _LIKE_A_NUMBER.match(text) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)


_Dumper.add_representer(str, _text)
_Dumper.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in known if not (tag.endswith(":bool") and first in "oO")]
    for first, known in yaml.SafeDumper.yaml_implicit_resolvers.items()
}
# ``off`` is quoted all the same: a reader of YAML 1.1 would take it for false.
_OFF = re.compile(r"^(?:off|Off|OFF)$")
_Dumper.add_implicit_resolver("tag:yaml.org,2002:bool", _OFF, list("oO"))


def _yaml_text(tree: dict[str, Any]) -> str:
    return yaml.dump(tree, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000, default_flow_style=False)


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
        losses += _find_losses(group)
        entry = _entry(group, losses)
        if entry is not None:
            _place(group[0], entry, top, people, active)
    model = next((spec.extra["model"] for spec in specs if spec.dialect == "lectic" and spec.extra.get("model")), None)
    tree = _tree(top, people, active, model)
    return Rendered(text=_yaml_text(tree), losses=tuple(losses))


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
    do = _render_do(spec.action)
    names = _event_names(group)
    if do is None or not names or not spec.enabled:
        what = "its action" if do is None else f"its event {spec.event}" if not names else "being turned off"
        finding = f"{spec.name}: {what}: not supported by Lectic, so the hook is left out"
        losses.append(spec.origin.problem(finding, "keep it where it is"))
        return None
    entry: dict[str, Any] = {}
    if name := _name(spec):
        entry["name"] = name
    entry["on"] = names[0] if len(names) == 1 else names
    entry["do"] = do
    return entry | _options(group)


def _options(group: list[HookSpec]) -> dict[str, Any]:
    spec = group[0]
    found: dict[str, Any] = {"timeout": spec.timeout} if "timeout" in spec.extra else {}
    placements = [one.output.inject for one in group if one.output.inject != "none"]
    if placements:
        found["inline"] = True
        if placements[0] == "comment":
            found["inline_as"] = "comment"
    if spec.output.icon:
        found["icon"] = spec.output.icon
    if spec.environ:
        found["env"] = dict(spec.environ)
    if spec.on_failure == "ignore" and not _may_refuse(group):
        found["allow_failure"] = True
    if spec.mode in ("background", "detached", "async"):
        found["mode"] = "background" if spec.mode == "async" else spec.mode
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
    """The interlocutor whose tool has this hook."""
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
