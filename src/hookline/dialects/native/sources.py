"""``[[source]]`` and ``[[pack]]``: hooks that are written elsewhere. What the tables name; reading it is not done here."""

from __future__ import annotations

import os
from collections.abc import Callable

from hookline.core._dataclass import dataclass
from hookline.core.problem import Problem
from hookline.core.typed import TypeVar
from hookline.dialects.base import Layer
from hookline.dialects.native.build import file_root
from hookline.dialects.native.fields import PACK_FIELDS, SOURCE_FIELDS
from hookline.dialects.native.kinds import Address, find_tables, read_table


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """One table. ``paths`` empty means the dialect's own places."""

    dialect: str
    where: Address
    #: For each path the places it may be at, the first that exists counts.
    paths: tuple[tuple[str, ...], ...] = ()
    #: A failure of its hooks refuses, whatever their own system says.
    fail_closed: bool = False
    #: The agent whose installed plugins they are; "" for files.
    installed: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class PackTable:
    source: str
    revision: str
    digest: str
    where: Address
    fail_closed: bool = False
    env: tuple[tuple[str, str], ...] = ()


_Table = TypeVar("_Table", SourceTable, PackTable)


def parse_sources(layer: Layer, home: str) -> tuple[tuple[SourceTable, ...], tuple[Problem, ...]]:
    return _tables(layer, "source", lambda table, where: _source(table, where, home))


def parse_packs(layer: Layer) -> tuple[tuple[PackTable, ...], tuple[Problem, ...]]:
    return _tables(layer, "pack", _pack)


def _tables(
    layer: Layer, name: str, read: Callable[[dict[str, object], Address], tuple[_Table | None, tuple[Problem, ...]]]
) -> tuple[tuple[_Table, ...], tuple[Problem, ...]]:
    tables: list[_Table] = []
    problems: list[Problem] = []
    for where, one in find_tables(layer, name, problems):
        table, found = read(one, where)
        tables += [table] if table else []
        problems += found
    return tuple(tables), tuple(problems)


def _pack(table: dict[str, object], where: Address) -> tuple[PackTable | None, tuple[Problem, ...]]:
    read = read_table(table, PACK_FIELDS, where)
    values, problems = read.values, list(read.problems)
    for key in ("source", "digest"):
        if key not in table:
            problems.append(where.problem(f"the pack has no {key}", "hookline add SOURCE writes the whole table"))
    if not read.usable or "source" not in values or "digest" not in values or values.get("enabled") is False:
        return None, tuple(problems)
    closed = values.get("on_failure") == "deny"
    return PackTable(
        source=values["source"], revision=values.get("revision", ""), digest=values["digest"], where=where,
        fail_closed=closed, env=tuple(dict(values.get("env", ())).items()),
    ), tuple(problems)  # fmt: skip


def _source(table: dict[str, object], where: Address, home: str) -> tuple[SourceTable | None, tuple[Problem, ...]]:
    read = read_table(table, SOURCE_FIELDS, where)
    values, problems = read.values, list(read.problems)
    if "installed" in values and ("dialect" in table or "path" in table or "paths" in table):
        problems.append(
            where.at("installed").problem("installed names an agent's plugins, not files", "remove the other keys")
        )
    elif "installed" not in values and "dialect" not in table:
        problems.append(where.problem("the source names no dialect", 'add dialect = "letta", or another'))
    if "path" in table and "paths" in table:
        problems.append(where.at("paths").problem("both path and paths", "keep one of them"))
    unusable = not read.usable or len(problems) > len(read.problems)
    if unusable or values.get("enabled") is False:
        return None, tuple(problems)
    named = (values["path"],) if "path" in values else values.get("paths", ())
    paths = tuple(_candidates(path, where.layer.path, home) for path in named)
    closed = values.get("on_failure") == "deny"
    return SourceTable(
        dialect=values.get("dialect", ""),
        where=where,
        paths=paths,
        fail_closed=closed,
        installed=values.get("installed", ""),
    ), tuple(problems)


def _candidates(path: str, file: str, home: str) -> tuple[str, ...]:
    """From the project's root first, then from beside the file that names it."""
    if path == "~" or path.startswith("~/"):
        return (os.path.normpath(os.path.join(home, path[2:])),)
    bases = dict.fromkeys((file_root(file), os.path.dirname(file)))
    return tuple(os.path.normpath(os.path.join(base, path)) for base in bases)
