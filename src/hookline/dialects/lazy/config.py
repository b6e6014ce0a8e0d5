"""``[hooks.<event>]`` of ``config.toml``: ``scripts`` by name, then ``external`` commands, in declared order."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from hookline.core._dataclass import dataclass, replace
from hookline.core.hook import Action, Command, Function, HookSpec, Matcher, hook_id
from hookline.core.suggest import suggest
from hookline.dialects.base import ConfigPlace, Layer, Lookup, Parsed, Rendered
from hookline.dialects.claude_family.matcher import NAMES_OR_REGEX, NOT_REFUSED, claude_pattern, claude_text
from hookline.dialects.claude_family.render import Losses, command_text, writable_hooks
from hookline.dialects.claude_family.settings_file import Findings, as_object, show
from hookline.dialects.lazy.wire import ALSO, EVENTS, MATCHERS, native_names

_TIMEOUT = 60.0
_FOLDER = "lazy-harness"
KNOWN = frozenset({"scripts", "external", "allow_patterns"})


@dataclass(frozen=True, slots=True, kw_only=True)
class _Declared:
    """One hook of one table."""

    name: str
    pointer: str
    action: Action
    #: None: the event's own.
    matcher: str | None = None


def places(cwd: str, home: str, environ: Mapping[str, str]) -> tuple[ConfigPlace, ...]:
    path = os.path.join(_config_dir(home, environ), "config.toml")
    return (ConfigPlace(path=path, layer="user", syntax="toml"),)


def _config_dir(home: str, environ: Mapping[str, str]) -> str:
    if given := environ.get("LH_CONFIG_DIR"):
        return given
    xdg = environ.get("XDG_CONFIG_HOME", "")
    return os.path.join(xdg if os.path.isabs(xdg) else os.path.join(home, ".config"), _FOLDER)


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────


def parse(layers: Sequence[Layer], lookup: Lookup) -> Parsed:
    findings = Findings()
    specs = [spec for layer in layers for spec in _of_layer(layer, lookup, findings)]
    return Parsed(specs=tuple(specs), problems=findings.all())


def _of_layer(layer: Layer, lookup: Lookup, findings: Findings) -> Iterator[HookSpec]:
    hooks = (as_object(layer.tree) or {}).get("hooks")
    if hooks is None:
        return
    tables = as_object(hooks)
    if tables is None:
        findings.report(layer, "$.hooks", f"hooks is {show(hooks)}", "write a table per event: [hooks.session_start]")
        return
    for event, table in tables.items():
        pointer = f"$.hooks.{event}"
        if event not in EVENTS:
            findings.report(layer, pointer, f"unknown event {event!r}: its hooks never fire", suggest(event, EVENTS))
        elif (fields := as_object(table)) is None:
            findings.report(layer, pointer, f"{event} is {show(table)}", 'write scripts = ["name"] in a table')
        else:
            yield from _of_event(layer, event, fields, lookup, findings)


def _of_event(
    layer: Layer, event: str, table: Mapping[str, Any], lookup: Lookup, findings: Findings
) -> Iterator[HookSpec]:
    pointer = f"$.hooks.{event}"
    for unknown in sorted(table.keys() - KNOWN):
        findings.report(layer, f"{pointer}.{unknown}", f"unknown key {unknown!r}", "remove it", "warning")
    declared = [
        *_scripts(layer, pointer, table.get("scripts"), lookup, findings),
        *_external(layer, pointer, table.get("external"), findings),
    ]
    if table.get("scripts") == [] and not declared:
        finding = f"no hooks, so hookline is not registered for {EVENTS[event]} on behalf of other hooks either"
        findings.report(layer, pointer, finding, "nothing to do", "note", code="no-hooks", name=EVENTS[event])
    allowed = table.get("allow_patterns")
    for canonical in (EVENTS[event], *ALSO.get(event, ())):
        for one in declared:
            spec = _spec(layer, event, canonical, one, findings)
            if spec is not None:
                kept = {} if allowed is None else {"allow_patterns": allowed}
                yield replace(spec, extra={**spec.extra, **kept})


def _listed(layer: Layer, pointer: str, value: Any, findings: Findings) -> list[Any]:
    if value is None:
        return []
    if isinstance(value, list):
        return value
    findings.report(layer, pointer, f"found {show(value)}, not a list", 'write a list: ["name"]')
    return []


def _scripts(layer: Layer, pointer: str, value: Any, lookup: Lookup, findings: Findings) -> Iterator[_Declared]:
    for position, name in enumerate(_listed(layer, f"{pointer}.scripts", value, findings)):
        place = f"{pointer}.scripts[{position}]"
        if not isinstance(name, str) or not name:
            findings.report(layer, place, f"found {show(name)}, not a name", "write the name of a hook")
            continue
        action = _resolved(layer, place, name, lookup, findings)
        if action is not None:
            yield _Declared(name=name, pointer=place, action=action)


def _resolved(layer: Layer, place: str, name: str, lookup: Lookup, findings: Findings) -> Action | None:
    """Built-in first, so that a user's file cannot take its place; then the user's hook directories."""
    if name in lookup.builtins:
        if target := lookup.builtins[name]:
            return Function(target=target)
        finding = f"the built-in hook {name!r} is known but not part of this version"
        findings.report(layer, place, finding, "nothing to do: it will run once it is there", "warning")
        return None
    path = _beside(layer, name, lookup) or lookup.find(name)
    if path is None:
        where = os.path.join(os.path.dirname(layer.path), "hooks")
        looked = dict.fromkeys((where, os.path.join(_config_dir(lookup.home, lookup.environ), "hooks")))
        builtins = ", ".join(lookup.builtins) or "none"
        finding = f"there is no hook {name!r}: neither built in ({builtins}) nor in {' or '.join(looked)}"
        fix = f"put {name}.py, or an executable {name}, into {where}"
        fix = "write the name of a file, without a directory" if "/" in name else fix
        findings.report(layer, place, finding, fix, code="unresolved-hook", name=name)
        return None
    return Command(form="argv", argv=("python3", path) if path.endswith(".py") else (path,))


def _beside(layer: Layer, name: str, lookup: Lookup) -> str | None:
    """The configuration's own ``hooks`` directory, also when the file was named and lies elsewhere."""
    if "/" in name or name in {".", ".."}:
        return None
    folder = os.path.join(os.path.dirname(layer.path), "hooks")
    for file in (f"{name}.py", name):
        path = os.path.join(folder, file)
        if path in lookup.search(folder, file):
            return path
    return None


def _external(layer: Layer, pointer: str, value: Any, findings: Findings) -> Iterator[_Declared]:
    for position, item in enumerate(_listed(layer, f"{pointer}.external", value, findings)):
        place = f"{pointer}.external[{position}]"
        table = {"command": item} if isinstance(item, str) else as_object(item) or {}
        command, matcher = table.get("command"), table.get("matcher")
        if not isinstance(command, str) or not command.strip() or not isinstance(matcher, str | None):
            fix = 'write "command", or {command = "...", matcher = "Edit|Write"}'
            findings.report(layer, place, f"found {show(item)}", fix)
            continue
        for unknown in sorted(table.keys() - {"command", "matcher"}):
            findings.report(layer, place, f"unknown key {unknown!r}", "remove it", "warning")
        yield _Declared(name=command, pointer=place, action=Command(form="shell", text=command), matcher=matcher)


def _spec(layer: Layer, event: str, canonical: str, one: _Declared, findings: Findings) -> HookSpec | None:
    text = MATCHERS.get(event) if one.matcher is None else one.matcher
    pattern = claude_pattern(text)
    if pattern is None:
        if canonical == EVENTS[event]:
            finding = f"matcher {show(text)} is not a regular expression"
            findings.report(layer, f"{one.pointer}.matcher", finding, NAMES_OR_REGEX)
        return None
    extra: dict[str, Any] = {} if one.matcher is None else {"matcher": one.matcher}
    fields = (NOT_REFUSED,) if canonical == "PostToolUseFailure" else ()
    return HookSpec(
        id=hook_id(layer.path, one.pointer, canonical),
        name=one.name,
        dialect="lazy",
        event=canonical,
        native_event=event,
        origin=layer.origin(one.pointer),
        action=one.action,
        matcher=Matcher(subject=pattern, fields=fields),
        timeout=_TIMEOUT,
        flow="chain",
        after_deny="continue",
        on_failure="ignore",
        extra=cast("Mapping[str, Any]", extra),
    )


def render(specs: Sequence[HookSpec]) -> Rendered:
    """Scripts stand before external commands in a table, whatever order they had elsewhere."""
    losses, tables = Losses("lazy", kin=("claude",)), dict[str, dict[str, list[Any]]]()
    for event, spec in writable_hooks(specs, "lazy", native_names(), losses):
        if spec.event == EVENTS[event] and not losses.unwritable(spec):
            _add(tables.setdefault(event, {"scripts": [], "external": []}), event, spec, losses)
    return Rendered(text=_text(tables), losses=losses.all())


def _add(table: dict[str, list[Any]], event: str, spec: HookSpec, losses: Losses) -> None:
    own = spec.dialect == "lazy"
    text = command_text(spec.action) if isinstance(spec.action, Command) else None
    if own and "allow_patterns" in spec.extra:
        table["allow_patterns"] = spec.extra["allow_patterns"]
    if own and not (isinstance(spec.action, Command) and spec.action.form == "shell"):
        if table["external"]:
            losses.weaken(spec, "running after an external command")
        table["scripts"].append(spec.name)
    elif text is None:
        losses.leave_out(spec, f"a hook of kind {type(spec.action).__name__}")
        return
    else:
        matcher = _matcher(event, spec)
        table["external"].append(text if matcher is None else {"command": text, "matcher": matcher})
    _policy(spec, losses)


def _matcher(event: str, spec: HookSpec) -> str | None:
    if spec.dialect == "lazy":
        return spec.extra.get("matcher")
    if spec.matcher.subject == claude_pattern(MATCHERS.get(event)):
        return None
    return claude_text(spec.matcher.subject)


def _policy(spec: HookSpec, losses: Losses) -> None:
    losses.policy(spec)
    if spec.timeout is not None and spec.timeout != _TIMEOUT:
        losses.weaken(spec, f"its timeout ({spec.timeout:g} s)")
    if spec.after_deny != "continue" and spec.flow == "chain":
        losses.weaken(spec, "stopping the next hooks after a deny")
    if spec.event == "PostToolUse" and spec.dialect != "lazy":
        losses.weaken(spec, "running only after a successful call")


def _text(tables: dict[str, dict[str, list[Any]]]) -> str:
    parts = [f"[hooks.{event}]\n" + "".join(_lines(table)) for event, table in tables.items()]
    return "\n".join(parts)


def _lines(table: dict[str, list[Any]]) -> list[str]:
    return [f"{key} = {_value(value)}\n" for key, value in table.items() if value or key == "allow_patterns"]


def _value(value: Any) -> str:
    """TOML's words for what these tables hold; its strings are JSON's, except for one character."""
    if isinstance(value, list):
        return f"[{', '.join(map(_value, value))}]"
    if isinstance(value, dict):
        return f"{{{', '.join(f'{key} = {_value(one)}' for key, one in value.items())}}}"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
