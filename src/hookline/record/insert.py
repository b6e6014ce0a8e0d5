"""Many firings into the store at once.

Most columns of most rows are empty, and Python's SQLite takes longer to bind one NULL than all texts of a row: it asks
a protocol first, which answers with an exception. So rows without anything in those columns go by statements that do
not name them.
"""

from __future__ import annotations

from operator import itemgetter
from typing import TYPE_CHECKING, Any, TypeAlias

from hookline.record.store import INSERT_NUMBERED, INSERT_RUN

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Sequence

Row: TypeAlias = tuple[Any, ...]
#: The columns of a firing, and those of its runs.
Rows: TypeAlias = "tuple[Sequence[Any], Sequence[Sequence[Any]]]"

_FIRING = (
    "number", "id", "time", "session", "turn", "agent", "event", "native_event", "cwd", "effect", "granted", "reason",
    "modified", "ms", "pid", "data",
)  # fmt: skip
_RUN = ("firing", "position", "hook_id", "hook", "dialect", "status", "ms", "error", "stdout", "stderr")


def _short(table: str, columns: Sequence[str]) -> str:
    return f"INSERT INTO {table} ({', '.join(columns)}) VALUES ({', '.join('?' * len(columns))})"  # noqa: S608 - our own words


INSERT_SHORT = _short("firings", _FIRING)
INSERT_SHORT_RUN = _short("runs", _RUN)

#: Of a row with its number: what may be empty, what that is like, and what is left without it.
_FIRING_EMPTY, _FIRING_LEFT = itemgetter(12, *range(17, 23)), itemgetter(*range(12), *range(13, 17))
_RUN_EMPTY, _RUN_LEFT = itemgetter(6, 7, 12, 13), itemgetter(*range(6), *range(8, 12))


def insert_many(connection: sqlite3.Connection, many: Sequence[Rows], latest: int) -> list[Row]:
    """Numbered after ``latest``, as SQLite would do it. Gives the rows of the runs."""
    firings = [(latest + at, *row) for at, (row, _) in enumerate(many, 1)]
    runs = [(latest + at, *run) for at, (_, some) in enumerate(many, 1) for run in some]
    bare, full = _parted(firings, _FIRING_EMPTY, (None,) * 7)
    connection.executemany(INSERT_SHORT, map(_FIRING_LEFT, bare))
    connection.executemany(INSERT_NUMBERED, full)
    bare, full = _parted(runs, _RUN_EMPTY, (None,) * 4)
    connection.executemany(INSERT_SHORT_RUN, map(_RUN_LEFT, bare))
    connection.executemany(INSERT_RUN, full)
    return runs


def _parted(rows: Sequence[Row], may_be_empty: itemgetter[Any], nothing: Row) -> tuple[list[Row], list[Row]]:
    """Rows with nothing in those columns, and the others."""
    bare: list[Row] = []
    full: list[Row] = []
    for row in rows:
        (bare if may_be_empty(row) == nothing else full).append(row)
    return bare, full
