"""``[[source]]``: hooks in another dialect, used as they are. Which files they name; reading them is not done here."""

from __future__ import annotations

import os

from hookline.core._dataclass import dataclass
from hookline.core.problem import Problem
from hookline.dialects.base import Layer
from hookline.dialects.native.build import file_root
from hookline.dialects.native.fields import SOURCE_FIELDS
from hookline.dialects.native.kinds import Address, read_table


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceTable:
    """One table. ``paths`` empty means the dialect's own places."""

    dialect: str
    where: Address
    #: For each path the places it may be at, the first that exists counts.
    paths: tuple[tuple[str, ...], ...] = ()
    #: A failure of its hooks refuses, whatever their own system says.
    fail_closed: bool = False


def parse_sources(layer: Layer, home: str) -> tuple[tuple[SourceTable, ...], tuple[Problem, ...]]:
    given = layer.tree.get("source", []) if isinstance(layer.tree, dict) else []
    root = Address(layer=layer).at("source")
    if not isinstance(given, list):
        return (), (root.problem("source is not a list of tables", 'write "[[source]]", with two brackets'),)
    sources: list[SourceTable] = []
    problems: list[Problem] = []
    for number, table in enumerate(given):
        source, found = _source(table, root.at(number), home)
        sources += [source] if source else []
        problems += found
    return tuple(sources), tuple(problems)


def _source(table: object, where: Address, home: str) -> tuple[SourceTable | None, tuple[Problem, ...]]:
    if not isinstance(table, dict):
        return None, (where.problem("a source must be a table", 'write "[[source]]"'),)
    read = read_table(table, SOURCE_FIELDS, where)
    values, problems = read.values, list(read.problems)
    if "dialect" not in table:
        problems.append(where.problem("the source names no dialect", 'add dialect = "letta", or another'))
    if "path" in table and "paths" in table:
        problems.append(where.at("paths").problem("both path and paths", "keep one of them"))
    unusable = not read.usable or len(problems) > len(read.problems)
    if unusable or values.get("enabled") is False:
        return None, tuple(problems)
    named = (values["path"],) if "path" in values else values.get("paths", ())
    paths = tuple(_candidates(path, where.layer.path, home) for path in named)
    closed = values.get("on_failure") == "deny"
    return SourceTable(dialect=values["dialect"], where=where, paths=paths, fail_closed=closed), tuple(problems)


def _candidates(path: str, file: str, home: str) -> tuple[str, ...]:
    """From the project's root first, then from beside the file that names it."""
    if path == "~" or path.startswith("~/"):
        return (os.path.normpath(os.path.join(home, path[2:])),)
    bases = dict.fromkeys((file_root(file), os.path.dirname(file)))
    return tuple(os.path.normpath(os.path.join(base, path)) for base in bases)
