"""Our entries in an agent's YAML file: lines of a block, and all other lines stay."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import yaml

from hookline.core.json_edit import JsonError
from hookline.deploy.own_entry import OwnEntry, Registration, is_own

if TYPE_CHECKING:
    from hookline.deploy.plan import FileFormat


def tree(text: str) -> Any:
    try:
        return yaml.safe_load(text) or {}
    except (yaml.YAMLError, RecursionError) as error:
        raise JsonError(" ".join(str(error).split())) from error


def _root(text: str) -> yaml.MappingNode:
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
    except (yaml.YAMLError, RecursionError) as error:
        raise JsonError(" ".join(str(error).split())) from error
    if not isinstance(node, yaml.MappingNode) or node.flow_style:
        raise JsonError("the file is not a block of keys")
    return node


def _member(node: yaml.MappingNode, name: str) -> tuple[Any, Any] | None:
    return next(((key, value) for key, value in node.value if key.value == name), None)


def fresh(wanted: Sequence[Registration], form: FileFormat) -> str:
    return "".join([f"{form.key}:\n", *_events(wanted, "  ")])


def find(text: str, form: FileFormat | None) -> list[OwnEntry]:
    parsed = tree(text)
    hooks = parsed.get("hooks" if form is None else form.key) if isinstance(parsed, dict) else None
    pairs = hooks.items() if isinstance(hooks, dict) else ()
    return [OwnEntry(event=event, value=one) for event, listed in pairs for one in listed or () if is_own(one)]


def names(text: str, form: FileFormat) -> frozenset[str]:
    parsed = tree(text)
    if not isinstance(parsed, dict) or form.key not in parsed:
        return frozenset()
    hooks = parsed[form.key]
    return frozenset({form.key, *(hooks if isinstance(hooks, dict) else ())})


def _events(wanted: Sequence[Registration], indent: str) -> list[str]:
    events: dict[str, list[str]] = {}
    for one in wanted:
        events.setdefault(one.event, []).extend(_item(one.entry, f"{indent}  "))
    return [line for event, lines in events.items() for line in (f"{indent}{event}:\n", *lines)]


def _item(entry: dict[str, Any], indent: str) -> list[str]:
    """One line for each field: a text as JSON writes it is one that YAML reads alike."""
    lead = [f"{indent}- ", *([f"{indent}  "] * (len(entry) - 1))]
    return [
        f"{before}{key}: {json.dumps(value, ensure_ascii=False)}\n"
        for before, (key, value) in zip(lead, entry.items(), strict=True)
    ]


def add(text: str, wanted: Sequence[Registration], form: FileFormat) -> str:
    """At the beginning of their lists, which needs no knowledge of where a block ends."""
    if not wanted or not text.strip():
        return fresh(wanted, form) if wanted else text
    base = text if text.endswith("\n") else f"{text}\n"
    member = _member(_root(base), form.key)
    if member is None:
        return base + fresh(wanted, form)
    lines = base.splitlines(keepends=True)
    for one in reversed(wanted):
        lines = _put(lines, one, form)
    return "".join(lines)


def _put(lines: list[str], one: Registration, form: FileFormat) -> list[str]:
    member = _member(_root("".join(lines)), form.key)
    if member is None:
        raise JsonError(f"{form.key} is gone")
    key, hooks = member
    if isinstance(hooks, yaml.ScalarNode) and not hooks.value:
        return _after(lines, key.start_mark.line, _events([one], "  "))
    if not isinstance(hooks, yaml.MappingNode) or hooks.flow_style:
        raise JsonError(f"{form.key} is not a block of events")
    indent = " " * hooks.start_mark.column
    there = _member(hooks, one.event)
    if there is None:
        return _after(lines, key.start_mark.line, _events([one], indent))
    name, listed = there
    if not isinstance(listed, yaml.SequenceNode) or listed.flow_style:
        raise JsonError(f"{form.key}.{one.event} is not a block of entries")
    return _after(lines, name.start_mark.line, _item(one.entry, " " * listed.start_mark.column))


def _after(lines: list[str], at: int, new: list[str]) -> list[str]:
    return [*lines[: at + 1], *new, *lines[at + 1 :]]


def remove(text: str, form: FileFormat, kept: frozenset[str]) -> str:
    """Lists that only we used go too, and the whole block if nothing is left in it."""
    member = _member(_root(text), form.key) if text.strip() else None
    if member is None or not isinstance(member[1], yaml.MappingNode):
        return text
    gone: set[int] = set()
    left = 0
    for name, listed in member[1].value:
        items = listed.value if isinstance(listed, yaml.SequenceNode) else []
        mine = [item for item in items if is_own(yaml.SafeLoader("").construct_document(item))]
        for item in mine:
            gone.update(range(item.start_mark.line, item.value[-1][1].end_mark.line + 1))
        if mine and len(mine) == len(items) and name.value not in kept:
            gone.add(name.start_mark.line)
        else:
            left += 1
    if gone and not left and form.key not in kept:
        gone.add(member[0].start_mark.line)
    return "".join(line for at, line in enumerate(text.splitlines(keepends=True)) if at not in gone)
