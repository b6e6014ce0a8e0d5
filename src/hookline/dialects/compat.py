"""What of another system's documents is honoured here, one row each: the reference prints these tables.

Each dialect has a ``compat`` module with its ``TABLE``. Nothing that runs a hook imports them; a test holds them
to the events and fields that the dialect's own code knows, so that they cannot rot.
"""

from __future__ import annotations

from importlib import import_module
from typing import Literal, cast

from hookline.core._dataclass import dataclass

Kind = Literal["field", "event", "behaviour"]
_Honoured = Literal["yes", "no", "differently"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One thing that a document promises. ``note`` gives the reason wherever it is not simply kept."""

    what: str
    kind: Kind
    honoured: _Honoured = "yes"
    note: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Everything about one system."""

    dialect: str
    system: str
    #: Where its files are looked for, in words.
    places: str
    rows: tuple[Row, ...]

    def named(self, kind: Kind) -> frozenset[str]:
        return frozenset(row.what for row in self.rows if row.kind == kind)


def field(what: str, note: str = "", honoured: _Honoured = "yes") -> Row:
    return Row(what=what, kind="field", honoured=honoured, note=note)


def event(what: str, note: str = "", honoured: _Honoured = "yes") -> Row:
    return Row(what=what, kind="event", honoured=honoured, note=note)


def behaviour(what: str, note: str = "", honoured: _Honoured = "yes") -> Row:
    return Row(what=what, kind="behaviour", honoured=honoured, note=note)


def different(what: str, note: str) -> Row:
    """A deliberate difference, with its reason."""
    return Row(what=what, kind="behaviour", honoured="differently", note=note)


def table_of(dialect: str) -> Table:
    """The table of one of our own dialects; the native one has none, since its document is our reference."""
    return cast("Table", import_module(f"hookline.dialects.{dialect}.compat").TABLE)


#: The dialects that have one, in the order of the reference.
TABLES = (
    "lectic", "letta", "lazy", "lash", "memex", "claude", "codex", "gemini", "qwen", "copilot", "opencode",
)  # fmt: skip
