"""``policy.toml``: the name and version of a policy, whom it is for, and what of a machine's records leaves it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, cast

from hookline.config.syntax import parse_text
from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import full_name, select_agents
from hookline.core.errors import ConfigError, UsageError
from hookline.core.problem import Problem
from hookline.dialects.base import Layer
from hookline.dialects.native import kinds
from hookline.dialects.native.kinds import Address, Field, Kind, read_table
from hookline.packs.tree import Tree

FILE = "policy.toml"

#: What a record consists of, in the order of the reference; the others are left out before it leaves the machine.
_RECORD_FIELDS = (
    "id", "time", "event", "agent", "session", "effect", "reason", "cwd", "data", "context", "messages", "outcomes", "ms",
)  # fmt: skip
#: What must be there for a record to be one.
_ALWAYS = ("id", "time", "event", "agent", "effect")

_TOP = (
    Field(key="name", kind=kinds.text('"acme"'), about="What people call the policy."),
    Field(key="version", kind=kinds.whole(1), about="Every change has a higher one; a machine never takes a lower one."),
    Field(key="agents", kind=kinds.text_list('["claude-code", "codex"]'), about="The agents that must carry it."),
    Field(key="daemon", kind=kinds.flag(), about="false: a managed entry never asks the resident engine of a person, which costs time."),
    Field(key="records", kind=Kind(read=lambda value: value, schema={}), about="What leaves a machine."),
    Field(key="offline", kind=Kind(read=lambda value: value, schema={}), about="What holds without the broker."),
)  # fmt: skip
_RECORDS = (
    Field(key="send", kind=kinds.choice("all", "denies", "none"), about="Which records leave the machine."),
    Field(key="fields", kind=kinds.text_list('["reason", "cwd"]'), about=f"Which of their fields, besides {', '.join(_ALWAYS)}."),
    Field(key="spool", kind=kinds.whole(100), about="Records that may wait for the broker; the oldest beyond it are dropped, and counted."),
)  # fmt: skip
_OFFLINE = (
    Field(key="hours", kind=kinds.whole(1), about="How long the last policy counts without a sign of the broker."),
    Field(key="then", kind=kinds.choice("warn", "deny"), about="What happens after that."),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Records:
    send: Literal["all", "denies", "none"] = "denies"
    fields: tuple[str, ...] = (*_ALWAYS, "session", "reason", "outcomes", "ms")
    spool: int = 100_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Offline:
    hours: int = 168
    then: Literal["warn", "deny"] = "warn"


@dataclass(frozen=True, slots=True, kw_only=True)
class Manifest:
    name: str
    version: int
    agents: tuple[str, ...] = ()
    daemon: bool = True
    records: Records = Records()
    offline: _Offline = _Offline()


def _parse_manifest(path: str, text: str) -> Manifest:
    """Raises ConfigError with every problem and its address."""
    document = parse_text(path, text, "toml")
    layer = Layer(path=path, name="policy", syntax="toml", text=text, tree=document.tree, line=document.line)
    found = list(document.problems)
    top = _read(layer, layer.tree, "", _TOP, found)
    records = _read(layer, top.pop("records", {}), "records", _RECORDS, found)
    offline = _read(layer, top.pop("offline", {}), "offline", _OFFLINE, found)
    where = Address(layer=layer)
    found += [
        where.problem(f"the policy has no {key}", f"add {key} = …") for key in ("name", "version") if key not in top
    ]
    try:
        agents = tuple(dict.fromkeys(full_name(one.name) for one in select_agents(top.get("agents", ()))))
    except UsageError as error:
        agents = ()
        found.append(where.at("agents").problem(str(error), "name one of these"))
    fields = tuple(dict.fromkeys((*_ALWAYS, *records.pop("fields", Records().fields))))
    for one in set(fields) - set(_RECORD_FIELDS):
        found.append(
            where.at("records").at("fields").problem(f"unknown field {one!r}", f"use {', '.join(_RECORD_FIELDS)}")
        )
    raise_problems(found)
    return Manifest(
        name=top["name"], version=top["version"], agents=agents, daemon=top.get("daemon", True),
        records=replace(Records(), **records, fields=fields), offline=_Offline(**offline),
    )  # fmt: skip


def _read(layer: Layer, table: Any, key: str, fields: Sequence[Field], found: list[Problem]) -> dict[str, Any]:
    where = Address(layer=layer).at(key) if key else Address(layer=layer)
    if not isinstance(table, dict):
        found.append(
            where.problem(f"{key or 'the file'} must be a table", f"write [{key}]" if key else "write NAME = …")
        )
        return {}
    read = read_table(cast("dict[str, Any]", table), fields, where)
    found += read.problems
    return dict(read.values)


def raise_problems(found: Sequence[Problem]) -> None:
    """Raises ConfigError if one of them is an error."""
    errors = [str(one) for one in found if one.severity == "error"]
    if errors:
        raise ConfigError("\n".join(errors))


def manifest_from(tree: Tree, name: str) -> Manifest:
    if FILE not in tree:
        raise ConfigError(f"{name} has no {FILE}")
    return _parse_manifest(f"{name}: {FILE}", tree[FILE].data.decode("utf-8", "replace"))
