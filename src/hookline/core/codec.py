"""Our frozen values as JSON and back, for what one process computes and the next one uses.

JSON, not pickle or marshal: a file that somebody forged can name no class but these, runs nothing and crashes nothing.
Equal values are written once, since most hooks share their gates, scopes and patterns.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from types import MappingProxyType

from hookline.core._dataclass import EMPTY
from hookline.core.fast_json import dumps
from hookline.core.typed import Any

#: Class -> its module. Those that are not here are not written.
_CLASSES = MappingProxyType(
    {
        name: f"hookline.core.{module}"
        for module, names in {
            "hook": "HookSpec Origin Pattern FieldTest Matcher Gates Scope Command Plugin Prompt AgentRun Http Function"
            " CostPolicy Output",
            "settings": "Settings Limits RecordSettings TelemetrySettings",
            "problem": "Problem",
            "loaded": "Loaded SourceFile Unapproved",
        }.items()
        for name in names.split()
    }
)
_PLAIN = frozenset({str, int, float, bool, type(None)})
_set = object.__setattr__


class _UnwritableError(TypeError):
    """A value that cannot be written: an object that a caller gave, or a class that is not in the table."""


def encode(value: Any) -> list[Any]:
    """Raises ``UnwritableError``."""
    table: list[Any] = []
    return [table, _Encoder(table).node(value)]


def decode(tree: Any) -> Any:
    """What was encoded. Raises ``ValueError`` for anything else."""
    try:
        rows, root = tree
        known: list[Any] = []
        for row in rows:
            known.append(_instance(row, known))
        return _value(root, known)
    except (LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(f"not an encoded value: {error}") from error


class _Encoder:
    """A scalar stands for itself; ``[number]`` is a row of the table; any other list begins with what it is."""

    def __init__(self, table: list[Any]) -> None:
        self._table = table
        self._numbers: dict[str, int] = {}

    def node(self, value: Any) -> Any:
        kind = type(value)
        if kind in _PLAIN:
            return value
        if kind is tuple or kind is list:
            return ["t" if kind is tuple else "l", *map(self.node, value)]
        if kind is frozenset:
            return ["s", *sorted(map(self.node, value))]
        if isinstance(value, Mapping) and all(type(key) is str for key in value):
            return ["m", {key: self.node(one) for key, one in value.items()}]
        if _CLASSES.get(kind.__name__) != kind.__module__:
            raise _UnwritableError(f"a {kind.__name__} cannot be written")
        row = [kind.__name__, *(self.node(getattr(value, slot.name)) for slot in kind.__slots_of_class__)]
        text = dumps(row)
        if text not in self._numbers:
            self._numbers[text] = len(self._table)
            self._table.append(row)
        return [self._numbers[text]]


def _value(node: Any, known: list[Any]) -> Any:
    if type(node) is not list:
        if type(node) is dict:
            raise ValueError("a mapping stands alone")
        return node
    kind = node[0]
    if type(kind) is int:
        return known[kind]
    if kind == "t":
        return tuple([_value(one, known) for one in node[1:]])
    if kind == "m":
        return {key: _value(one, known) for key, one in node[1].items()} or EMPTY
    if kind == "l":
        return [_value(one, known) for one in node[1:]]
    if kind == "s":
        return frozenset(_value(one, known) for one in node[1:])
    raise ValueError(f"unknown kind of value {kind!r}")


@cache
def _class(name: str) -> Any:
    return getattr(import_module(_CLASSES[name]), name)


def _instance(row: Any, known: list[Any]) -> Any:
    cls = _class(row[0])
    slots = cls.__slots_of_class__
    if len(row) != len(slots) + 1:
        raise ValueError(f"{row[0]} has other fields")
    made = object.__new__(cls)
    for slot, node in zip(slots, row[1:], strict=True):
        # Most fields are plain, and a call costs more than the look.
        _set(made, slot.name, node if type(node) is not list else _value(node, known))
    return made
