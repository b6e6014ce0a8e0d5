"""The hooks files of the agents that took over Claude Code's shape: one table of differences, one reader, one writer.

Only commands are run from these files: what else an agent may know there is a problem with an address.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from hookline.core._dataclass import dataclass, empty, field
from hookline.core.hook import Command, HookSpec, Matcher, Pattern
from hookline.dialects.base import Layer, Parsed, Rendered
from hookline.dialects.claude_family.matcher import NAMES_OR_REGEX, NOT_REFUSED, claude_pattern, claude_text
from hookline.dialects.claude_family.render import Groups, Losses, amount, command_text, writable_hooks
from hookline.dialects.claude_family.settings_file import Findings, HookEntry, check_events, entries, show

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
    pattern: Callable[[str | None], Pattern | None] = field(default=claude_pattern)
    pattern_text: Callable[[Pattern], str | None] = field(default=claude_text)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────


def parse(system: HooksFormat, layers: Sequence[Layer]) -> Parsed:
    """In the order of the files; one bad hook is one problem, and only that one is dropped."""
    findings = Findings()
    specs: list[HookSpec] = []
    for layer in layers:
        check_events(layer, system.events, findings, system.switches)
        for entry in entries(layer, findings, system.switches, system.group_fields):
            spec = build_spec(system, entry)
            if spec is not None:
                specs.append(spec)
    return Parsed(specs=tuple(specs), problems=findings.all())


def build_spec(system: HooksFormat, entry: HookEntry) -> HookSpec | None:
    matcher, action = _matcher(system, entry), _action(system, entry)
    if action is None or matcher is None:
        return None
    extra = {key: entry.fields[key] for key in system.kept if entry.fields.get(key) not in (None, False)}
    if entry.matcher:
        extra["matcher"] = entry.matcher
    event = system.events.get(entry.event, f"{system.dialect}:{entry.event}")
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
    return Matcher(subject=pattern if entry.event in system.matched else Pattern(), fields=refused)


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
    for event, matcher, hook in render_hooks(system, specs, losses):
        groups.add(event, matcher, hook)
    return groups.text(losses, inside={}, beside={})


def render_hooks(
    system: HooksFormat, specs: Sequence[HookSpec], losses: Losses
) -> Iterator[tuple[str, str | None, dict[str, Any]]]:
    """Event, matcher and hook, in order; what cannot be expressed goes to ``losses``."""
    native = {canonical: name for name, canonical in reversed(tuple(system.events.items()))}
    for event, spec in writable_hooks(specs, system.dialect, native, losses):
        text = command_text(spec.action) if isinstance(spec.action, Command) else None
        if text is None:
            losses.leave_out(spec, f"a hook of kind {type(spec.action).__name__}")
        elif event not in system.matched and spec.matcher.subject != Pattern():
            losses.leave_out(spec, f"a matcher on {spec.event}")
        elif not losses.unwritable(spec):
            yield event, _matcher_text(system, spec), _hook(system, spec, event, text, losses)


def _matcher_text(system: HooksFormat, spec: HookSpec) -> str | None:
    if spec.dialect == system.dialect:
        return spec.extra.get("matcher")
    return system.pattern_text(spec.matcher.subject) or None


def _hook(system: HooksFormat, spec: HookSpec, event: str, text: str, losses: Losses) -> dict[str, Any]:
    hook: dict[str, Any] = {"type": "command", "command": text}
    if spec.dialect == system.dialect:
        hook |= {key: spec.extra[key] for key in system.kept if key in spec.extra}
    modes = ("sync", "async", "background") if "async" in system.fields else ("sync",)
    if spec.mode in {"async", "background"} and "async" in system.fields:
        hook["async"] = True
    if spec.timeout is not None and spec.timeout != _default_timeout(system, event):
        hook["timeout"] = amount(spec.timeout, system.per_second)
    losses.policy(spec, modes=modes)
    if spec.flow == "chain" and spec.after_deny != "continue":
        losses.weaken(spec, "stopping the next hooks after a deny")
    return hook
