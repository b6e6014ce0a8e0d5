"""Letta Code's eleven events, and its three settings files, merged: nothing overrides anything, and the local file's
hooks run first.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from itertools import chain
from types import MappingProxyType
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.event import Flow
from hookline.core.hook import OWN_MODEL, Action, Command, FieldTest, HookSpec, Matcher, Pattern, Prompt
from hookline.dialects.base import ConfigPlace, Layer, Lookup, Parsed, Rendered, agent_places
from hookline.dialects.claude_family.matcher import NOT_A_COMMAND, NOT_REFUSED, python_regex
from hookline.dialects.claude_family.render import Groups, Losses, amount, command_text, full_match_text, writable_hooks
from hookline.dialects.claude_family.settings_file import Findings, HookEntry, check_events, entries, hooks_object, show

_COMMAND_TIMEOUT = 60.0
_PROMPT_TIMEOUT = 30.0
SWITCH = "disabled"
_FILE = ".letta/settings.json"
_LEVELS = ("user", "project", "local")

_COMMAND_FIELDS = frozenset({"type", "command", "timeout", "quiet"})
_PROMPT_FIELDS = frozenset({"type", "prompt", "model", "timeout", "quiet"})

#: What Letta Code's own callers leave out: a refused call has no failure event, a slash command no prompt event.
_IMPLIED: Mapping[str, tuple[FieldTest, ...]] = {
    "PostToolUseFailure": (NOT_REFUSED,),
    "UserPromptSubmit": (NOT_A_COMMAND,),
}


def places(cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    return agent_places("letta-code", cwd, home, environ)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:
    """Per event: the local hooks, then the project's, then the user's, each as written."""
    findings = Findings()
    enabled = not _switched_off(layers, lookup)
    by_event: dict[str, list[HookSpec]] = {}
    for layer in reversed(layers):
        _check_events(layer, findings)
        for entry in entries(layer, findings, (SWITCH,)):
            spec = _spec(entry, enabled=enabled)
            if spec is not None:
                by_event.setdefault(spec.event, []).append(spec)
    return Parsed(specs=tuple(chain.from_iterable(by_event.values())), problems=findings.all())


def _check_events(layer: Layer, findings: Findings) -> None:
    check_events(layer, EVENTS, findings, (SWITCH,))
    switch = hooks_object(layer, Findings()).get(SWITCH, False)
    if not isinstance(switch, bool):
        finding = f"disabled is {show(switch)} and has no effect"
        findings.report(layer, f"$.hooks.{SWITCH}", finding, "write true or false", "warning")


def _switched_off(layers: Sequence[Layer], lookup: Lookup) -> bool:
    """The user's file decides; where it does not say, either project file may switch hooks off."""
    switches: dict[str, bool] = {}
    for layer, level in zip(layers, _levels(layers, lookup), strict=True):
        value = hooks_object(layer, Findings()).get(SWITCH)
        if isinstance(value, bool):
            switches[level] = value or switches.get(level, False)
    return switches.get("user", any(switches.values()))


def _levels(layers: Sequence[Layer], lookup: Lookup) -> list[str]:
    """Files that were named one by one count as user, project, local from the lowest up, as their names allow."""
    user = os.path.normpath(os.path.join(lookup.home or "/", _FILE))
    levels: list[str] = []
    for position, layer in enumerate(layers):
        if layer.name in _LEVELS:
            levels.append(layer.name)
        elif "local" in os.path.basename(layer.path):
            levels.append("local")
        elif layer.path == user:
            levels.append("user")
        else:
            levels.append("user" if position == 0 and not _last_is_local(layers) else "project")
    return levels


def _last_is_local(layers: Sequence[Layer]) -> bool:
    return len(layers) == 2 and "local" in os.path.basename(layers[-1].path)


def _spec(entry: HookEntry, *, enabled: bool) -> HookSpec | None:
    row = ROWS.get(entry.event, EventRules(name=entry.event, flow="parallel"))
    action, default = _action(entry, row)
    if action is None:
        return None
    quiet = entry.flag("quiet")
    extra: dict[str, Any] = {"quiet": True} if quiet else {}
    if entry.matcher is not None:
        extra["matcher"] = entry.matcher
    return HookSpec(
        id=entry.id,
        name=_identifier(action),
        dialect="letta",
        event=canonical_event(entry.event),
        native_event=entry.event,
        origin=entry.origin,
        action=action,
        matcher=Matcher(subject=_subject(entry, row), fields=_IMPLIED.get(entry.event, ())),
        timeout=entry.seconds(default, per_second=1000),
        flow=row.flow,
        after_deny="always-stop" if row.on_two == "stop" else "stop",
        on_failure="ignore",
        enabled=enabled,
        extra=extra,
    )


def _action(entry: HookEntry, row: EventRules) -> tuple[Action | None, float]:
    # The document calls command the default type.
    match entry.fields.get("type", "command" if "command" in entry.fields else None):
        case "command":
            entry.check_fields(_COMMAND_FIELDS)
            text = entry.text("command", required=True)
            return (Command(form="shell", text=text) if text else None), _COMMAND_TIMEOUT
        case "prompt":
            return _prompt(entry, row), _PROMPT_TIMEOUT
        case other:
            finding = "the hook has no type" if other is None else f"unknown hook type {show(other)}"
            entry.report("type", finding, 'write "command" or "prompt"')
            return None, _COMMAND_TIMEOUT


def _prompt(entry: HookEntry, row: EventRules) -> Prompt | None:
    entry.check_fields(_PROMPT_FIELDS)
    text = entry.text("prompt", required=True)
    model = entry.text("model", required=False)
    if row.name in ROWS and not row.prompts:
        able = ", ".join(name for name, one in ROWS.items() if one.prompts)
        entry.report("type", f"prompt hooks are not supported on {row.name}", f"use a command, or one of {able}")
        return None
    return Prompt(text=text, model=model or OWN_MODEL) if text else None


def _identifier(action: Action) -> str:
    """What Letta Code calls a hook: its command, or the beginning of its prompt."""
    if isinstance(action, Prompt):
        return f"prompt:{action.text[:50]}{'...' if len(action.text) > 50 else ''}"
    return action.text if isinstance(action, Command) else ""


def _subject(entry: HookEntry, row: EventRules) -> Pattern:
    if not row.tool or entry.matcher in {None, "", "*"}:
        return Pattern()
    text = entry.matcher or ""
    if (same := python_regex(text)) is not None:
        return Pattern(style="full", text=same, when_missing=True)
    # The anchors are put around the text unseen, so parentheses can close and open over them.
    loose = python_regex(f"^(?:{text})$")
    if loose is not None:
        found = Pattern(style="search", text=loose, when_missing=True)
        finding = "its parentheses escape the anchors, so it matches more than it seems to"
    else:
        found = Pattern(style="exact", options=(text,), when_missing=True)
        finding = "it is not a regular expression, so it matches only a tool of exactly that name"
    fix = "write a JavaScript regular expression, for example Edit|Write"
    entry.report_matcher(f": {finding}", fix, "warning")
    return found


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────


def render(specs: Sequence[HookSpec]) -> Rendered:
    """The hooks as one settings file, with everything it cannot say."""
    losses, groups = Losses("letta"), Groups()
    off = bool(specs) and not any(spec.enabled for spec in specs)
    for event, spec in writable_hooks(specs, "letta", EVENTS, losses, off=off):
        if not _unwritable(spec, losses) and (hook := _hook(spec, losses)) is not None:
            groups.add(event, _matcher(spec), hook)
    return groups.text(losses, inside={SWITCH: True} if off else {}, beside={})


def _unwritable(spec: HookSpec, losses: Losses) -> bool:
    row = ROWS.get(spec.event)
    if row is not None and not row.tool and not losses.without_matcher(spec):
        return True
    return losses.unwritable(spec)


def _hook(spec: HookSpec, losses: Losses) -> dict[str, Any] | None:
    action, row = spec.action, ROWS.get(spec.event)
    text = command_text(action) if isinstance(action, Command) else None
    if isinstance(action, Prompt) and (row is None or row.prompts):
        hook: dict[str, Any] = {"type": "prompt", "prompt": action.text}
        hook |= {"model": action.model} if action.model not in {"", OWN_MODEL} else {}
        if not action.model:
            losses.weaken(spec, "asking the default model, not the agent's own")
    elif text is not None:
        hook = {"type": "command", "command": text}
    else:
        losses.leave_out(spec, f"a hook of kind {type(action).__name__} on {spec.event}")
        return None
    default = _PROMPT_TIMEOUT if isinstance(action, Prompt) else _COMMAND_TIMEOUT
    if spec.timeout is not None and spec.timeout != default:
        hook["timeout"] = amount(spec.timeout, 1000)
    if spec.extra.get("quiet") is True:
        hook["quiet"] = True
    losses.policy(spec)
    if spec.dialect != "letta" and spec.after_deny == "continue" and row is not None and row.on_two == "deny":
        losses.weaken(spec, "running the next hooks after a deny")
    return hook


def _matcher(spec: HookSpec) -> str | None:
    if spec.dialect == "letta":
        return spec.extra.get("matcher")
    row = ROWS[spec.event]
    return full_match_text(spec.matcher.subject) if row.tool else None


@dataclass(frozen=True, slots=True, kw_only=True)
class EventRules:
    """What Letta Code's document says about one event; the canonical name is the same."""

    name: str
    flow: Flow = "chain"
    #: Matchers are tried on the tool's name; on the other events a matcher is ignored.
    tool: bool = False
    prompts: bool = False
    #: What exit code 2 does: stops the action, only the hooks after it, gives stderr to the agent, or nothing.
    on_two: Literal["deny", "stop", "feed back", "nothing"] = "nothing"
    #: The reason of a deny that gives none.
    silent: str = "Blocked by hook"
    #: What stdout becomes: text for the agent, or JSON that may hold additionalContext.
    stdout: Literal["text", "json", "nothing"] = "nothing"
    #: The text or the feedback counts whatever the exit code is.
    any_exit: bool = False


_ROWS = (
    EventRules(name="PreToolUse", tool=True, prompts=True, on_two="deny"),
    EventRules(name="PostToolUse", tool=True, prompts=True, flow="parallel", on_two="feed back", stdout="json"),
    EventRules(
        name="PostToolUseFailure", tool=True, prompts=True, flow="parallel", on_two="feed back", stdout="json",
        any_exit=True,
    ),
    EventRules(name="PermissionRequest", tool=True, prompts=True, on_two="deny", silent="Denied by hook"),
    EventRules(name="UserPromptSubmit", prompts=True, on_two="deny", stdout="text"),
    EventRules(name="Notification", flow="parallel"),
    EventRules(name="Stop", prompts=True, on_two="deny", silent="Stop hook blocked"),
    EventRules(name="SubagentStop", prompts=True, on_two="deny"),
    EventRules(name="PreCompact", flow="parallel"),
    EventRules(name="SessionStart", on_two="stop", stdout="text", any_exit=True),
    EventRules(name="SessionEnd", flow="parallel"),
)  # fmt: skip

ROWS: Mapping[str, EventRules] = MappingProxyType({row.name: row for row in _ROWS})

EVENTS: Mapping[str, str] = MappingProxyType({name: name for name in ROWS})


def canonical_event(name: str) -> str:
    """The canonical name: an event that has no row is carried under its own name, never lost."""
    return EVENTS.get(name, f"letta:{name}")
