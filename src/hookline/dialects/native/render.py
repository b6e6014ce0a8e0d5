"""Specs back into ``hookline.toml``: what was one hook on several events becomes one table again."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import count, product
from typing import Any

from hookline.core._dataclass import dataclass, replace
from hookline.core.event import event_kind
from hookline.core.hook import (
    DEFAULTED,
    AgentRun,
    Command,
    FieldTest,
    Function,
    Gates,
    HookSpec,
    Http,
    Matcher,
    Origin,
    Pattern,
    Plugin,
    Prompt,
    Scope,
)
from hookline.core.problem import Problem
from hookline.core.settings import Limits
from hookline.dialects.base import Rendered
from hookline.dialects.native.build import COST_KEYS, DETACHABLE, PROMPT_TIMEOUT, build_matcher, refuses_on_failure
from hookline.dialects.native.fields import HOOK_FIELDS, WHEN_FIELDS, WIRES
from hookline.dialects.native.kinds import names

_BARE = re.compile(r"[A-Za-z0-9_-]+")
_NOWHERE = Origin(file="")


def render(specs: Sequence[HookSpec]) -> Rendered:
    """``parse(render(specs))`` gives the same specs up to origin and id; what cannot be expressed is a loss."""
    losses: list[Problem] = []
    blocks: list[str] = []
    used: set[str] = set()
    guards = dict.fromkeys(
        spec.action.given for spec in specs if isinstance(spec.action, Function) and spec.action.given
    )
    blocks += [_guard(given) for given in list(guards)[:1]]
    for table in _tables([spec for spec in specs if not (isinstance(spec.action, Function) and spec.action.given)]):
        losses += _losses(table.specs[0])
        name = _free(table.specs[0].name, used)
        if name != table.specs[0].name and not _wire(table.specs[0]):  # most of those have no name of their own
            losses.append(_lost(table.specs[0], "its name is used by another hook", f"it is now {name!r}"))
        used.add(name)
        blocks.append(_text(table, name))
    return Rendered(text="\n".join(blocks), losses=tuple(losses))


def _guard(given: str) -> str:
    """``[guard]``, whose hooks are written as one table."""
    return "\n".join(["[guard]", *(f"{key} = {_value(value)}" for key, value in json.loads(given).items())]) + "\n"


def _free(name: str, used: set[str]) -> str:
    return next(one for number in count(1) if (one := name if number == 1 else f"{name}-{number}") not in used)


# ── what was one hook is one table ───────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class _Table:
    """One ``[[hook]]``: specs that differ only in what follows from their events."""

    specs: tuple[HookSpec, ...]
    match: Any
    flow: str


def _tables(specs: Sequence[HookSpec]) -> list[_Table]:
    tables: list[_Table] = []
    for spec in specs:
        joined = _joined(tables[-1], spec) if tables else None
        if joined:
            tables[-1] = joined
        else:
            tables.append(_table((spec,)) or _Table(specs=(spec,), match=_matches(spec)[0], flow=spec.flow))
    return tables


def _joined(table: _Table, spec: HookSpec) -> _Table | None:
    specs = (*table.specs, spec)
    same = _shared(table.specs[0]) == _shared(spec) and spec.event not in {one.event for one in table.specs}
    return _table(specs) if same and len(_failures(specs)) < 2 else None


def _shared(spec: HookSpec) -> HookSpec:
    extra = {key: value for key, value in spec.extra.items() if key != "on_failure"}
    return replace(
        spec, id="", event="", native_event="", origin=_NOWHERE, flow="chain", matcher=Matcher(), on_failure="ignore",
        extra=extra,
    )  # fmt: skip


def _failures(specs: Sequence[HookSpec]) -> set[str]:
    """What must be written as ``on_failure``, "" for nothing; none of a hook for which both mean the same."""
    return {
        "" if spec.extra.get("on_failure") == DEFAULTED else spec.on_failure
        for spec in specs
        if spec.on_failure != "ignore"
        or refuses_on_failure(spec.event, spec.mode, next(iter(_action(spec))), spec.output.inject)
    }


def _table(specs: tuple[HookSpec, ...]) -> _Table | None:
    """One way of writing ``match`` and ``flow`` that, read again, gives each of the specs its own; None without."""
    for match, flow in product([one for spec in specs for one in _matches(spec)], ("", "chain", "parallel")):
        if all(_reads_back(spec, match, flow) for spec in specs):
            return _Table(specs=specs, match=match, flow=flow)
    return None


def _reads_back(spec: HookSpec, match: Any, flow: str) -> bool:
    kind = event_kind(spec.event)
    given = {"": match} if isinstance(match, str) and match else match or None
    return (flow or kind.flow) == spec.flow and build_matcher(given, kind) == spec.matcher


def _matches(spec: HookSpec) -> list[Any]:
    """The ways to write this matcher; which one is right depends on the hook's other events."""
    named = event_kind(spec.event).subject
    tests = {test.path: _test_value(test, searched=test.path != named) for test in spec.matcher.fields}
    subject = _regex(spec.matcher.subject)
    if not subject or not named:
        return [subject or tests]
    tables: list[Any] = [{named: subject, **tests}, {**tests, named: subject}]
    return tables if tests else [subject, *tables]


def _test_value(test: FieldTest, *, searched: bool) -> Any:
    if test.pattern is None:
        value = test.equals
    else:
        value = (
            {"command": test.pattern.text} if test.pattern.style == "command" else _field_regex(test, searched=searched)
        )
    return {"not": value} if test.negate else value


def _field_regex(test: FieldTest, *, searched: bool) -> str:
    """Data are searched, but for the subject: what must be all of them is anchored."""
    assert test.pattern is not None
    text = _regex(test.pattern)
    whole = test.pattern.style in {"full", "exact", "glob"} and not test.negate and searched
    return rf"\A(?-s:{text})\Z" if whole else text


def _text(table: _Table, name: str) -> str:
    events = [spec.event for spec in table.specs]
    keys = {"name": name, "on": events if len(events) > 1 else events[0], "match": table.match, "flow": table.flow}
    keys |= {**_written(table.specs[0]), "on_failure": next(iter(_failures(table.specs)), "")}
    lines = [f"{key} = {_value(keys[key])}" for key in names(HOOK_FIELDS) if keys.get(key) not in ("", {}, None)]
    return "\n".join(["[[hook]]", *lines]) + "\n"


def _written(spec: HookSpec) -> dict[str, Any]:
    """What does not depend on the event, defaults left out."""
    default = _default(spec)
    keys: dict[str, Any] = {name: spec.extra.get(name, "") for name in ("description", "covers", "ask")}
    keys |= {**_action(spec), "dialect": _wire(spec)}
    for key in ("timeout", "on_unsupported", "mode", "order", "after_deny", "enabled"):
        if getattr(spec, key) != getattr(default, key):
            keys[key] = getattr(spec, key)
    if spec.thrift is not None:
        keys |= {key: value for key in COST_KEYS if (value := getattr(spec.thrift, key)) not in (None, "report", 0.0)}
    keys |= {"when": _when(spec.gates), "env": dict(spec.environ)}
    keys |= {"inject": spec.output.inject if spec.output.inject in {"context", "attachment", "comment"} else ""}
    keys |= {"label": spec.output.label, "prefix": spec.output.prefix}
    return keys


def _wire(spec: HookSpec) -> str:
    """The format that its program uses, where that is not ours."""
    if spec.dialect == "native":
        return str(spec.extra.get("wire", ""))
    return spec.dialect if spec.dialect in WIRES else ""


def _default(spec: HookSpec) -> HookSpec:
    timeout: float | None = PROMPT_TIMEOUT if isinstance(spec.action, Prompt) else Limits().timeout
    if spec.mode == "detached":
        timeout = None
    return HookSpec(
        id="", name="", dialect="native", event=spec.event, origin=_NOWHERE, action=spec.action,
        flow=event_kind(spec.event).flow, timeout=timeout,
    )  # fmt: skip


def _regex(pattern: Pattern) -> str:
    """Names and globs become expressions that match the same texts."""
    match pattern.style:
        case "any":
            return ""
        case "full" | "full across lines" | "search across lines":
            return pattern.text
        case "search":
            return f"(?s:.*(?:{pattern.text}).*)"
        case "exact":
            return "|".join(re.escape(name) for name in pattern.options or (pattern.text,))
        case _:
            from fnmatch import translate  # no native hook has a glob

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
        case Http(url=url, headers=headers, allow_insecure=insecure, variables=variables):
            listed = {} if variables is None else {"variables": list(variables)}
            return {"http": {"url": url, "headers": dict(headers), "allow_insecure": insecure, **listed}}
        case AgentRun() as agent:
            return {"agent": _agent(agent)}


def _agent(agent: AgentRun) -> dict[str, Any]:
    keys: dict[str, Any] = {"prompt": agent.prompt, "model": agent.model, "steps": agent.steps, "runner": agent.runner}
    keys |= {"tools": list(agent.tools)} if agent.tools is not None else {}
    keys |= {"command": list(agent.command)} if agent.command else {}
    return {key: value for key, value in keys.items() if value != ""}


def _when(gates: Gates) -> dict[str, Any]:
    plain = Gates()
    keys = [key for key in names(WHEN_FIELDS) if key != "once"]
    values = {key: getattr(gates, key) for key in keys if getattr(gates, key) != getattr(plain, key)}
    return {key: list(value) if isinstance(value, tuple) else value for key, value in values.items()}


# ── what a hookline.toml cannot say ──────────────────────────────────────────────────────────────────


def _lost(spec: HookSpec, what: str, fix: str) -> Problem:
    return spec.origin.problem(f"{spec.name}: {what}", fix)


def _losses(spec: HookSpec) -> Iterator[Problem]:
    lost = partial(_lost, spec)
    if spec.scope != Scope():
        yield lost(f"it listens to one {spec.scope.kind} only ({spec.scope.name})", "add a match or a when by hand")
    if spec.phase:
        yield lost("it has a phase of its own", "use order")
    if spec.gates.typed_only or spec.gates.needs_turn or spec.gates.claim_first:
        yield lost("its turn gates are finer than ours", "check its when by hand")
    if spec.output.inject in {"reply", "session"} or spec.output.icon or spec.output.attributes:
        yield lost("what becomes of its output", "use inject, label and prefix")
    if spec.same:
        yield lost("it runs once where several of its matchers fit", "write one hook with a match for all of them")
    if spec.extra.get("shell") == "powershell":
        yield lost("it is written for PowerShell", 'write run = ["pwsh", "-Command", "…"]')
    if spec.dialect not in WIRES:
        yield lost(f"it uses the input and output format of {spec.dialect}", "name its file as a [[source]] instead")
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
            return quote(value)
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
    return key if _BARE.fullmatch(key) else quote(key)


def quote(text: str) -> str:
    """A JSON string is a TOML string, except that TOML also wants DEL escaped."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007F")
