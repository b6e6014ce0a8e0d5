"""``[guard]``: the ready guard, which becomes one hook for each event at which it can refuse.

The table of every file is a guard of its own. One deny is enough, so a project's table can tighten and never loosen one's
own, and its hooks are approved and missed like any other hook of the project.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from datetime import date
from typing import Any

from hookline.core.builtin_hooks import GUARD
from hookline.core.event import event_kind
from hookline.core.hook import ASK, Function, HookSpec, hook_id
from hookline.core.problem import Problem
from hookline.dialects.base import FOREIGN, Layer
from hookline.dialects.native import kinds
from hookline.dialects.native.fields import table_schema
from hookline.dialects.native.kinds import Address, Field, Kind, Wrong, read_table, show

_NAME, TABLE = "guard", "guard"
POLICIES = ("watch", "standard", "strict")
_EVENTS = ("PreToolUse", "PermissionRequest", "pipeline.pre_execute", "process.pre_spawn")
#: Far more than it needs: a busy machine must not refuse a call.
_TIMEOUT = 20.0
#: Behind every other hook, because it judges what will really run.
_LAST = 1 << 31
#: The words of ``hookline.guard``, which a test compares.
EFFECTS = (
    "delete", "overwrite", "move", "permissions", "git-work", "git-history", "git-remote", "git-bypass", "process",
    "device", "privilege", "remote-code", "secret", "send", "publish", "install", "infrastructure", "database",
    "persistence", "guard", "exhaust", "unknown",
)  # fmt: skip
PLACES = (
    "outside project", "root", "system", "home", "project", "temp", "device", "mount", "outside", "remote", "network",
    "unknown",
)  # fmt: skip
_DAY = re.compile(r"\d{4}-\d\d-\d\d")


def _day() -> Kind:
    def read(value: Any) -> Any:
        text = value.isoformat()[:10] if isinstance(value, date) else value
        try:
            if isinstance(text, str) and _DAY.fullmatch(text):
                return date.fromisoformat(text).isoformat()
        except ValueError:  # the 30th of February
            pass
        return Wrong(finding=f"must be a day; got {show(value)}", fix='write "2027-01-31"')

    return Kind(read=read, schema={"type": "string", "pattern": r"^\d{4}-\d\d-\d\d$"})


def _tables(fields: Sequence[Field], required: tuple[str, ...]) -> Kind:
    def read(value: Any) -> Any:
        if isinstance(value, list) and all(isinstance(one, dict) for one in value):
            return value  # read one by one, so that each problem has its own address
        return Wrong(finding=f"must be a list of tables; got {show(value)}", fix="write [[guard.…]], with two brackets")

    return Kind(read=read, schema={"type": "array", "items": table_schema(tuple(fields), required)})


def _effect(*more: str) -> Kind:
    names = (*EFFECTS, *more)

    def read(value: Any) -> Any:
        if isinstance(value, str) and value in names:
            return value
        return Wrong(finding=f"must name an effect; got {show(value)}", fix=kinds.did_you_mean(str(value), names))

    return Kind(read=read, schema={"type": "string", "enum": list(names)})


def _place() -> Kind:
    def read(value: Any) -> Any:
        if isinstance(value, str) and (value in PLACES or re.search(r"[/*~.]", value)):
            return value
        fix = f'write "outside project", another place ({", ".join(PLACES[1:])}), or a path'
        return Wrong(finding=f"must name a place; got {show(value)}", fix=fix)

    paths = {"type": "string", "pattern": r"[/*~.]"}
    return Kind(read=read, schema={"anyOf": [{"type": "string", "enum": list(PLACES)}, paths]})


RULE_FIELDS = (
    Field(key="effect", kind=_effect("any"), about="The effect that it is about, or any."),
    Field(key="where", kind=_place(), about='Only there: "outside project", another place, or a path (with * for any part of it) and what is below it.'),
    Field(key="harm", kind=kinds.choice("low", "medium", "high", "critical"), about="Only from this harm on."),
    Field(key="then", kind=kinds.choice("allow", "ask", "deny"), about="What happens. The last rule that fits decides; none loosens the protection of the guard itself."),
)  # fmt: skip

EXCEPTION_FIELDS = (
    Field(key="command", kind=kinds.text('"git push --force origin wip"'), about="Exactly this command line."),
    Field(key="path", kind=kinds.text('"~/scratch"'), about="What is done to this path and below it."),
    Field(key="effect", kind=_effect(), about="Only this effect; alone: this effect everywhere."),
    Field(key="until", kind=_day(), about="The last day on which it counts."),
    Field(key="reason", kind=kinds.text(), about="Why it is one."),
)  # fmt: skip

GUARD_FIELDS = (
    Field(key="policy", kind=kinds.choice(*POLICIES), about="watch refuses nothing and records what standard would do; standard refuses irreversible loss, leaks, code from the network and changes of the guard; strict adds secrets, privileges, publishing and infrastructure, and asks about what cannot be read."),
    Field(key="allow", kind=kinds.choice("nothing", "read-only"), about="read-only: commands that provably only read are granted without a question. Not in a project's file."),
    Field(key="unknown", kind=kinds.choice("allow", "ask", "deny"), about="What it means that a part of a command cannot be read, if not what the policy says."),
    Field(key="ask", kind=kinds.choice("agent", "inbox", "two"), about="Who answers when it asks: the agent's own question, or a person in hookline web or on call, or two different people on call (hookline fleet inbox); without an answer in time the call is refused."),
    Field(key="rule", kind=_tables(RULE_FIELDS, ("effect", "then")), about="[[guard.rule]]: rules of your own, after those of the policy."),
    Field(key="exception", kind=_tables(EXCEPTION_FIELDS, ("until", "reason")), about="[[guard.exception]]: what is let through, until when and why."),
)  # fmt: skip
_INNER = {"rule": (RULE_FIELDS, ("effect", "then")), "exception": (EXCEPTION_FIELDS, ("until", "reason"))}


def guard_hooks(layer: Layer) -> tuple[tuple[HookSpec, ...], tuple[Problem, ...]]:
    """The guard of one file. What is wrong in its table is a problem, and what is good still guards."""
    where = Address(layer=layer).at(TABLE)
    table = layer.tree[TABLE]
    if not isinstance(table, dict):
        return (), (where.problem(f"guard must be a table; got {show(table)}", 'write "[guard]"'),)
    read = read_table(table, GUARD_FIELDS, where)
    values: dict[str, Any] = {"policy": "standard", **read.values}
    problems = list(read.problems)
    for key in _INNER:
        values[key] = _good(values.get(key, []), key, where, problems)
    if layer.name in FOREIGN and values.pop("allow", "nothing") != "nothing":
        finding = "guard.allow grants calls, which a project may not"
        problems.append(where.at("allow").problem(finding, "set it in the user's hookline.toml", "warning"))
    asked = values.pop(ASK, "agent")
    extra = {ASK: asked} if asked != "agent" else {}
    given = json.dumps({key: value for key, value in values.items() if value}, sort_keys=True)
    return tuple(_hook(layer, event, given, extra) for event in _EVENTS), tuple(problems)


def _good(tables: Sequence[dict[str, Any]], key: str, where: Address, problems: list[Problem]) -> list[dict[str, Any]]:
    fields, required = _INNER[key]
    good: list[dict[str, Any]] = []
    for number, table in enumerate(tables):
        at = where.at(key).at(number)
        read = read_table(table, fields, at)
        missing = [name for name in required if name not in table]
        if key == "exception" and not {"command", "path", "effect"} & set(table):
            missing.append("command, path or effect")
        problems += read.problems
        problems += [at.problem(f"the {key} has no {name}", f"add {name} = …") for name in missing]
        if read.usable and not missing:
            good.append(read.values)
    return good


def _hook(layer: Layer, event: str, given: str, extra: dict[str, str]) -> HookSpec:
    pointer = f"$.{TABLE}"
    return HookSpec(
        id=hook_id(layer.path, pointer, event),
        name=_NAME,
        dialect="native",
        event=event,
        native_event=event,
        origin=layer.origin(pointer),
        action=Function(target=GUARD, given=given),
        order=_LAST,
        timeout=_TIMEOUT,
        flow=event_kind(event).flow,
        on_failure="deny",
        extra=extra,
    )
