"""The hooks files of the agents that took over Claude Code's shape: one table of differences, one reader, one writer.

Only commands are run from these files: what else an agent may know there is a problem with an address.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Literal

from hookline.core._dataclass import dataclass, empty, field, replace
from hookline.core.hook import Command, FieldTest, HookSpec, Matcher, Pattern
from hookline.core.own_registration import calls_hookline
from hookline.core.suggest import suggest
from hookline.dialects.base import Layer, Parsed, Rendered, Syntax
from hookline.dialects.claude_family.field_map import pick, put
from hookline.dialects.claude_family.matcher import NAMES_OR_REGEX, NOT_REFUSED, claude_pattern, claude_text
from hookline.dialects.claude_family.render import (
    Groups,
    Losses,
    amount,
    command_text,
    full_match_regex,
    toml_table,
    writable_hooks,
)
from hookline.dialects.claude_family.settings_file import Findings, HookEntry, check_events, entries, flat_entry, show

#: Hooks that decide form a chain here, so that a second rewrite builds on the first.
_CHAINED = frozenset({"PreToolUse", "PermissionRequest", "UserPromptSubmit", "Stop", "SubagentStop", "PreModelRequest"})


@dataclass(frozen=True, slots=True, kw_only=True)
class HooksFormat:
    """What differs between these files."""

    dialect: str
    #: Native event -> canonical event.
    events: Mapping[str, str]
    #: The fields of a command hook that mean something there.
    fields: frozenset[str]
    #: The unit of a timeout, and what holds where none is written.
    per_second: int = 1
    timeout: float = 600.0
    event_timeouts: Mapping[str, float] = field(default_factory=empty)
    #: Fields that are kept as written, so that a file can be written again.
    kept: tuple[str, ...] = ()
    #: Keys beside the events, and further keys of a group.
    switches: tuple[str, ...] = ()
    group_fields: frozenset[str] = frozenset()
    #: Native events on which a matcher counts.
    matched: frozenset[str] = frozenset()
    #: ``groups``: an event holds groups of hooks; ``flat``: it holds hooks that carry their own matcher; ``list``: all
    #: hooks are one list, and each names its event.
    shape: Literal["groups", "flat", "list"] = "groups"
    #: Where in the file they are: "" is the file itself, "*" every key of it.
    key: str = "hooks"
    syntax: Syntax = "json"
    #: What this file calls a field (``action.command``), where it is not the usual word.
    names: Mapping[str, str] = field(default_factory=empty)
    #: What every hook has, and what every file begins with.
    constant: Mapping[str, Any] = field(default_factory=lambda: {"type": "command"})
    head: Mapping[str, Any] = field(default_factory=empty)
    #: Native events that are about some tools only: ``canonical event:tools``.
    kinds: Mapping[str, str] = field(default_factory=empty)
    pattern: Callable[[str | None], Pattern | None] = field(default=claude_pattern)
    pattern_text: Callable[[Pattern], str | None] = field(default=claude_text)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────


def parse(system: HooksFormat, layers: Sequence[Layer]) -> Parsed:
    """In the order of the files; one bad hook is one problem, and only that one is dropped."""
    findings = Findings()
    specs: list[HookSpec] = []
    for layer in layers:
        for entry in _entries(system, layer, findings):
            spec = None if calls_hookline(entry.fields) else _build_spec(system, entry)
            if spec is not None:
                specs.append(spec)
    return Parsed(specs=tuple(specs), problems=findings.all())


def _entries(system: HooksFormat, layer: Layer, findings: Findings) -> Iterator[HookEntry]:
    """Every hook of a file, its fields under the usual words."""
    if system.shape == "list":
        found = _listed(system, layer, findings)
    else:
        tree = layer.tree if isinstance(layer.tree, dict) else {}
        key = system.key
        if not key and isinstance(tree.get("hooks"), dict):
            key = "hooks"  # the same hooks in a larger file
        keys = tuple(tree) if key == "*" else (key,)
        for one in keys:
            check_events(layer, system.events, findings, system.switches, one)
        flat = system.shape == "flat" or key == "*"
        found = (
            entry
            for one in keys
            for entry in entries(layer, findings, system.switches, system.group_fields, key=one, flat=flat)
        )
    return (_usual(system, entry) for entry in found) if system.names else found


def _listed(system: HooksFormat, layer: Layer, findings: Findings) -> Iterator[HookEntry]:
    tree = layer.tree if isinstance(layer.tree, dict) else {}
    hooks: Any = tree.get(system.key)
    if hooks is not None and not isinstance(hooks, list):
        findings.report(layer, f"$.{system.key}", f"{system.key} is {show(hooks)}, not a list", "write a list of hooks")
    listed: list[Any] = hooks if isinstance(hooks, list) else []
    for position, hook in enumerate(listed):
        pointer = f"$.{system.key}[{position}]"
        event = hook.get(system.names.get("event", "event")) if isinstance(hook, dict) else None
        if isinstance(hook, dict) and event not in system.events:
            known = suggest(str(event), system.events)
            findings.report(layer, pointer, f"unknown event {show(event)}: the hook never fires", known, "warning")
        yield from flat_entry(layer, findings, str(event), pointer, hook)


def _usual(system: HooksFormat, entry: HookEntry) -> HookEntry:
    fields = dict(entry.fields)
    for usual, theirs in system.names.items():
        if (value := pick(fields, theirs)) is not None:
            fields.pop(theirs.partition(".")[0], None)
            fields[usual] = value
    matcher = fields.get("matcher")
    return replace(entry, fields=fields, matcher=matcher if isinstance(matcher, str) and matcher else entry.matcher)


def _build_spec(system: HooksFormat, entry: HookEntry) -> HookSpec | None:
    matcher, action = _matcher(system, entry), _action(system, entry)
    if action is None or matcher is None:
        return None
    extra = {key: entry.fields[key] for key in system.kept if entry.fields.get(key) not in (None, False)}
    if entry.matcher:
        extra["matcher"] = entry.matcher
    event = _kind(system, entry.event)[0] or system.events.get(entry.event, f"{system.dialect}:{entry.event}")
    named = entry.fields.get("name")
    return HookSpec(
        id=entry.id,
        name=named if isinstance(named, str) and named else action.text,
        dialect=system.dialect,
        event=event,
        native_event=entry.event,
        origin=entry.origin,
        action=action,
        matcher=matcher,
        mode="async" if "async" in system.fields and entry.flag("async") else "sync",
        timeout=entry.seconds(_default_timeout(system, entry.event), per_second=system.per_second),
        flow="chain" if event in _CHAINED else "parallel",
        after_deny="continue",
        on_failure="ignore",
        extra=extra,
    )


def _default_timeout(system: HooksFormat, native: str) -> float:
    return system.event_timeouts.get(native, system.timeout)


def _matcher(system: HooksFormat, entry: HookEntry) -> Matcher | None:
    refused = (NOT_REFUSED,) if system.events.get(entry.event) == "PostToolUseFailure" else ()
    pattern = system.pattern(entry.matcher)
    if pattern is None:
        entry.report_matcher(" is not a regular expression", NAMES_OR_REGEX)
        return None
    subject, tools = pattern if entry.event in system.matched else Pattern(), _kind(system, entry.event)[1]
    if not tools:
        return Matcher(subject=subject, fields=refused)
    # What is matched there is not the name of the tool, but the command.
    command = (FieldTest(path="tool_input.command", pattern=subject),) if subject != Pattern() else ()
    return Matcher(subject=Pattern(style="full", text=tools), fields=command)


def _kind(system: HooksFormat, native: str) -> tuple[str, str]:
    """Of an event that is about some tools only: what it is with us, and the tools."""
    event, _, tools = system.kinds.get(native, "").partition(":")
    return event, tools


def _action(system: HooksFormat, entry: HookEntry) -> Command | None:
    kind = entry.fields.get("type", "command")
    if kind != "command":
        finding = f"hooks of type {show(kind)} are not run from here"
        entry.report("type", finding, 'write "command", or put the hook into hookline.toml')
        return None
    entry.check_fields(system.fields)
    text = entry.text("command", required=True)
    return None if text is None else Command(form="shell", text=text)


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def render(system: HooksFormat, specs: Sequence[HookSpec]) -> Rendered:
    losses, groups = Losses(system.dialect), Groups()
    flat: list[tuple[str, dict[str, Any]]] = []
    for event, matcher, hook in _render_hooks(system, specs, losses):
        if system.shape == "groups":
            groups.add(event, matcher, hook)
        else:
            flat.append((event, _own_words(system, event, matcher, hook)))
    if system.shape == "list":
        tree: dict[str, Any] = {**system.head, system.key: [hook for _event, hook in flat]}
        return Rendered(text=_file_text(tree, system.syntax), losses=losses.all())
    for event, hook in flat:
        groups.put(event, hook)
    inside = groups.events()
    named = {system.key if system.key != "*" else "hookline": inside} if system.key else inside
    return Rendered(text=_file_text({**system.head, **named}, system.syntax), losses=losses.all())


def _own_words(system: HooksFormat, event: str, matcher: str | None, hook: dict[str, Any]) -> dict[str, Any]:
    """A hook as this file writes it: constant fields first, each under its own name."""
    usual = {"event": event} if system.shape == "list" else {}
    usual |= {"matcher": matcher} if matcher else {}
    made: dict[str, Any] = dict(system.constant)
    for key, value in {**usual, **{key: value for key, value in hook.items() if key != "type"}}.items():
        put(made, system.names.get(key, key), value)
    return made


def _file_text(tree: Mapping[str, Any], syntax: Syntax) -> str:
    if syntax == "json":
        return json.dumps(tree, indent=2, ensure_ascii=False) + "\n"
    if syntax == "yaml":
        import yaml  # few agents keep their hooks in it

        return str(yaml.safe_dump(dict(tree), sort_keys=False, allow_unicode=True))
    return "\n".join(toml_table("hooks", hook) for hook in tree["hooks"])


def _render_hooks(
    system: HooksFormat, specs: Sequence[HookSpec], losses: Losses
) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Event, matcher and hook, in order; what cannot be expressed goes to ``losses``."""
    native = {canonical: name for name, canonical in reversed(tuple(system.events.items()))}
    for event, spec in writable_hooks(specs, system.dialect, native, losses):
        text = command_text(spec.action) if isinstance(spec.action, Command) else None
        if text is None:
            losses.leave_out(spec, f"a hook of kind {type(spec.action).__name__}")
        elif not losses.unwritable(spec, written=spec.matcher.fields if spec.dialect == system.dialect else ()):
            for one in _native_events(system, spec, event, losses):
                yield one, _matcher_text(system, spec, one), _hook(system, spec, one, text, losses)


def _native_events(system: HooksFormat, spec: HookSpec, event: str, losses: Losses) -> Sequence[str]:
    """The events it is written under: where each kind of tool has one, those of the tools that it is about."""
    if spec.dialect == system.dialect or event in system.matched:
        return (event,)
    if event in system.kinds:
        return _events_of_tools(system, spec, losses)
    return (event,) if losses.without_matcher(spec) else ()


def _events_of_tools(system: HooksFormat, spec: HookSpec, losses: Losses) -> Sequence[str]:
    kinds = {native: _kind(system, native)[1] for native in system.kinds if _kind(system, native)[0] == spec.event}
    subject = spec.matcher.subject
    wanted = full_match_regex(subject)
    if wanted is None:
        losses.weaken(spec, f"other tools than {', '.join(kinds.values()).replace('|', ', ')}")
        return tuple(kinds)
    found = [one for one, tools in kinds.items() if any(re.fullmatch(wanted, tool) for tool in tools.split("|"))]
    others = [
        name
        for name in subject.options or subject.text.split("|")
        if not any(re.fullmatch(kinds[one], name) for one in found)
    ]
    if not found:
        losses.leave_out(spec, f"a matcher on {'|'.join(others)}")
    elif others:
        losses.weaken(spec, f"a matcher on {'|'.join(others)}")
    return found


def _matcher_text(system: HooksFormat, spec: HookSpec, event: str) -> str | None:
    if spec.dialect == system.dialect:
        return spec.extra.get("matcher")
    return (system.pattern_text(spec.matcher.subject) or None) if event in system.matched else None


def _hook(system: HooksFormat, spec: HookSpec, event: str, text: str, losses: Losses) -> dict[str, Any]:
    hook: dict[str, Any] = {**system.constant, "command": text} if system.shape == "groups" else {"command": text}
    if spec.dialect == system.dialect:
        hook |= {key: spec.extra[key] for key in system.kept if key in spec.extra}
    modes = ("sync", "async", "background") if "async" in system.fields else ("sync",)
    if spec.mode in {"async", "background"} and "async" in system.fields:
        hook["async"] = True
    if spec.timeout is not None and spec.timeout != _default_timeout(system, event):
        if "timeout" in system.fields:
            hook["timeout"] = amount(spec.timeout, system.per_second)
        else:
            losses.weaken(spec, f"a time limit of {spec.timeout:g} s")
    losses.policy(spec, modes=modes)
    if spec.flow == "chain" and spec.after_deny != "continue":
        losses.weaken(spec, "stopping the next hooks after a deny")
    return hook
