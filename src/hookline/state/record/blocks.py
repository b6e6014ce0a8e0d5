"""Which firings are where: for every block of successive numbers, the different combinations of what people filter by.

A filter looks for blocks in this table, which is small, and reads only those. An index for each filter would cost every
firing a page; a block costs its writer a few milliseconds when it is full. What is not in the table (the newest
firings, and the oldest until a filter is used for the first time) is read firing by firing.
"""

from __future__ import annotations

from hookline.core.typed import TYPE_CHECKING
from hookline.state.database import transaction
from hookline.state.record.store import BLOCK

if TYPE_CHECKING:
    import sqlite3

BITS = BLOCK.bit_length() - 1
#: Blocks that are entered at once: other writers wait as long.
_TOGETHER = 2

BOUNDS = "SELECT (SELECT min(block) FROM blocks), (SELECT max(block) FROM blocks)"
_ENTER = f"""INSERT OR IGNORE INTO blocks
    SELECT number >> {BITS}, CAST(time / 3600 AS INTEGER), session, agent, cwd, event, effect,
      coalesce((SELECT group_concat(DISTINCT status) FROM runs WHERE firing = number), '')
      || CASE WHEN EXISTS (SELECT 1 FROM quiet WHERE firing = number) THEN ',replied' ELSE '' END
    FROM firings WHERE number >= ? AND number < ?"""


def _bounds(connection: sqlite3.Connection) -> tuple[int, int]:
    """The first number whose firing is in the table of blocks, and the one after the last; 0, 0 if it is empty."""
    first, last = connection.execute(BOUNDS).fetchone()
    return (0, 0) if first is None else (first << BITS, last + 1 << BITS)


def enter_full(connection: sqlite3.Connection) -> bool:
    """The blocks that became full since the last time; of a store with none yet, the latest. Whether that was all."""
    with transaction(connection):
        end = _next_number(connection) >> BITS << BITS
        _, low = _bounds(connection)
        if low == 0:
            latest = _before(connection, end)
            if latest is None:
                return True
            low = latest >> BITS << BITS
        connection.execute(_ENTER, (low, min(end, low + _TOGETHER * BLOCK)))
        return low + _TOGETHER * BLOCK >= end


def enter_all(connection: sqlite3.Connection) -> None:
    """Every full block; a look, once they are there. May be interrupted."""
    if _bounds(connection)[1] + BLOCK <= _next_number(connection):
        while not enter_full(connection):
            pass
    while _before(connection, _bounds(connection)[0]) is not None:
        with transaction(connection):
            latest = _before(connection, _bounds(connection)[0])
            if latest is not None:
                top = (latest >> BITS) + 1 << BITS
                connection.execute(_ENTER, (top - _TOGETHER * BLOCK, top))


def enter_again(connection: sqlite3.Connection, event_id: str) -> None:
    """A firing has changed. Inside a transaction."""
    number = connection.execute("SELECT max(number) FROM firings WHERE id = ?", (event_id,)).fetchone()[0]
    first, end = _bounds(connection)
    if number is not None and first <= number < end:
        connection.execute(_ENTER, (number, number + 1))


def leave(connection: sqlite3.Connection, numbers: list[tuple[int]]) -> None:
    """These firings were deleted: nothing of them stays. Inside a transaction."""
    first, end = _bounds(connection)
    reopened = _next_number(connection) >> BITS << BITS  # the number of a deleted firing may be given again
    for block in sorted({number >> BITS for (number,) in numbers}):
        low = block << BITS
        connection.execute("DELETE FROM blocks WHERE block = ?", (block,))
        if first <= low < min(end, reopened):
            connection.execute(_ENTER, (low, low + BLOCK))
    connection.execute("DELETE FROM blocks WHERE block >= ?", (reopened >> BITS,))


def _before(connection: sqlite3.Connection, number: int) -> int | None:
    found = connection.execute("SELECT max(number) FROM firings WHERE number < ?", (number,)).fetchone()[0]
    return None if found is None else int(found)


def _next_number(connection: sqlite3.Connection) -> int:
    return int(connection.execute("SELECT max(number) FROM firings").fetchone()[0] or 0) + 1
