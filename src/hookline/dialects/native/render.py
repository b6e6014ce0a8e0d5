"""Specs back into ``hookline.toml``: what was one hook on several events becomes one table again."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from hookline.dialects.base import Rendered
from hookline.dialects.native.build import DETACHABLE, PROMPT_TIMEOUT
from hookline.event import kind_of
from hookline.problem import Problem
from hookline.settings import Limits
from hookline.spec import AgentRun, Command, Function, Gates, HookSpec, Http, Origin, Pattern, Plugin, Prompt, Scope

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NOWHERE = Origin(file="")


def render(specs: Sequence[HookSpec]) -> Rendered:
    """``parse(render(specs))`` gives the same specs up to origin and id; what cannot be said is a loss."""
    losses: list[Problem] = []
    blocks: list[str] = []
    for group in _groups(specs):
        losses += _losses(group[0])
        blocks.append(_table(group))
    return Rendered(text="\n".join(blocks), losses=tuple(losses))


def _groups(specs: Sequence[HookSpec]) -> list[list[HookSpec]]:
    """Neighbours that differ only in their event are one hook."""
    groups: list[list[HookSpec]] = []
    for spec in specs:
        if groups and _same_hook(groups[-1][-1], spec) and spec.event not in {one.event for one in groups[-1]}:
            groups[-1].append(spec)
        else:
            groups.append([spec])
    return groups


def _same_hook(one: HookSpec, other: HookSpec) -> bool:
    return _shared(one) == _shared(other)


def _shared(spec: HookSpec) -> tuple[HookSpec, dict[str, Any]]:
    """Everything that is written once for all events; the flow and the subject are compared as written."""
    bare = replace(
        spec,
        id="",
        event="",
        native_event="",
        origin=_NOWHERE,
        flow="chain",
        matcher=replace(spec.matcher, subject=Pattern()),
    )
    return bare, _written(spec)


def _table(group: list[HookSpec]) -> str:
    spec = group[0]
    events = [one.event for one in group]
    lines = ["[[hook]]", f"name = {_value(spec.name)}", f"on = {_value(events if len(events) > 1 else events[0])}"]
    lines += [f"{key} = {_value(value)}" for key, value in _written(spec).items()]
    return "\n".join(lines) + "\n"


def _written(spec: HookSpec) -> dict[str, Any]:
    """The keys of the hook's table, defaults left out."""
    default = _default(spec)
    keys: dict[str, Any] = {"description": spec.extra.get("description", "")}
    keys |= {"match": _match(spec), **_action(spec)}
    for key in ("timeout", "on_failure", "on_unsupported", "mode", "order", "flow", "after_deny", "enabled"):
        if getattr(spec, key) != getattr(default, key):
            keys[key] = getattr(spec, key)
    keys |= {"when": _when(spec.gates), "env": dict(spec.environ)}
    keys |= {"inject": spec.output.inject if spec.output.inject in {"context", "attachment", "comment"} else ""}
    keys |= {"label": spec.output.label, "prefix": spec.output.prefix}
    return {key: value for key, value in keys.items() if value not in ("", {}, None)}


def _default(spec: HookSpec) -> HookSpec:
    timeout: float | None = PROMPT_TIMEOUT if isinstance(spec.action, Prompt) else Limits().timeout
    if spec.mode == "detached":
        timeout = None
    return HookSpec(
        id="", name="", dialect="native", event=spec.event, origin=_NOWHERE, action=spec.action,
        flow=kind_of(spec.event).flow, timeout=timeout,
    )  # fmt: skip


def _match(spec: HookSpec) -> Any:
    tests = {test.path: test.pattern.text if test.pattern else test.equals for test in spec.matcher.fields}
    subject = _regex(spec.matcher.subject)
    named = kind_of(spec.event).subject
    if subject and tests and named:
        return {named: subject, **tests}
    return subject or tests


def _regex(pattern: Pattern) -> str:
    """Names and globs are said as expressions; they match the same texts."""
    match pattern.style:
        case "any":
            return ""
        case "full":
            return pattern.text
        case "search":
            return f"(?s:.*(?:{pattern.text}).*)"
        case "exact":
            return "|".join(re.escape(name) for name in pattern.options or (pattern.text,))
        case _:
            from fnmatch import translate  # noqa: PLC0415 - no native hook has a glob

            return translate(pattern.text)


def _action(spec: HookSpec) -> dict[str, Any]:
    match spec.action:
        case Command(form="words", text=text):
            return {"run": text}
        case Command(form="shell", text=text):
            return {"shell": text}
        case Command(form="script", text=text):
            return {"script": text}
        case Command(argv=argv):
            return {"run": list(argv)}
        case Function(target=target):
            return {"python": target}
        case Prompt(text=text, model=model):
            return {"prompt": text, "model": model}
        case Plugin(path=path):
            return {"plugin": path}
        case Http(url=url, headers=headers, allow_insecure=insecure):
            return {"http": {"url": url, "headers": dict(headers), "allow_insecure": insecure}}
        case AgentRun() as agent:
            return {"agent": _agent(agent)}


def _agent(agent: AgentRun) -> dict[str, Any]:
    keys: dict[str, Any] = {"prompt": agent.prompt, "model": agent.model, "steps": agent.steps, "runner": agent.runner}
    keys |= {"tools": list(agent.tools)} if agent.tools is not None else {}
    keys |= {"command": list(agent.command)} if agent.command else {}
    return {key: value for key, value in keys.items() if value != ""}


def _when(gates: Gates) -> dict[str, Any]:
    keys = (
        "every_n_turns",
        "min_turn",
        "message_contains",
        "role",
        "agent",
        "cwd",
        "once_per_session",
        "debounce",
        "max_per_minute",
    )
    plain = Gates()
    values = {key: getattr(gates, key) for key in keys if getattr(gates, key) != getattr(plain, key)}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


# ── what a hookline.toml cannot say ──────────────────────────────────────────────────────────────────


def _losses(spec: HookSpec) -> Iterator[Problem]:
    def lost(what: str, fix: str) -> Problem:
        where = spec.origin
        return Problem(file=where.file, line=where.line, pointer=where.pointer, finding=f"{spec.name}: {what}", fix=fix)

    if spec.scope != Scope():
        yield lost(f"it listens to one {spec.scope.kind} only ({spec.scope.name})", "add a match or a when by hand")
    if spec.phase:
        yield lost("it has a phase of its own", "use order")
    if spec.gates.typed_only or spec.gates.needs_turn or spec.gates.claim_first:
        yield lost("its turn gates are finer than ours", "check its when by hand")
    if any(test.negate for test in spec.matcher.fields):
        yield lost("it matches what a field is not", "write the test in the hook")
    if spec.output.inject == "session" or spec.output.icon or spec.output.attributes:
        yield lost("what becomes of its output", "use inject, label and prefix")
    if spec.dialect != "native":
        yield lost(f"it is called in {spec.dialect}'s way, and answers so", "name its file as a [[source]] instead")
    if isinstance(spec.action, Function) and spec.action.call is not None:
        yield lost("it is an object in memory", "give it a name as python = package.module:function")
    if spec.mode == "detached" and not set(_action(spec)) & DETACHABLE:
        yield lost("it cannot be detached", 'use mode = "background"')
    if spec.timeout is None and spec.mode != "detached":
        yield lost("it has no time limit", "add a timeout")


# ── TOML ─────────────────────────────────────────────────────────────────────────────────────────────


def _value(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case int() | float():
            return repr(value)
        case dict():
            pairs = ", ".join(f"{_name(key)} = {_value(one)}" for key, one in value.items())
            return f"{{ {pairs} }}" if pairs else "{}"
        case None:
            return '""'
        case _:
            return f"[{', '.join(_value(one) for one in value)}]"


def _name(key: str) -> str:
    return key if _BARE.fullmatch(key) else quoted(key)


def quoted(text: str) -> str:
    """A JSON string is a TOML string, except that TOML also wants DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
