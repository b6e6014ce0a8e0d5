"""The sessions that began and have not said that they ended. Whatever is wrong with the file, nobody has to wait for it:
then an end is not made up.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable
from contextlib import closing
from typing import TypeVar

from hookline.core._dataclass import dataclass
from hookline.core.processes import Process, alive
from hookline.state.database import Database, Schema

_T = TypeVar("_T")

#: Seconds of silence after which a session is taken to be over whose process nobody knows.
_IDLE = 1800.0
#: One that is older is forgotten: its end would be news to nobody.
_OLD = 14 * 86_400.0

_LAYOUT = Schema(
    application_id=0x484B4F53,
    migrations=(
        (
            """CREATE TABLE open_sessions (
                 agent TEXT NOT NULL, session TEXT NOT NULL, cwd TEXT NOT NULL, transcript TEXT NOT NULL,
                 pid INTEGER NOT NULL, began INTEGER NOT NULL, started REAL NOT NULL, touched REAL NOT NULL,
                 PRIMARY KEY (agent, session)) STRICT, WITHOUT ROWID""",
        ),
        (
            """CREATE TABLE current_sessions (
                 agent TEXT NOT NULL, place TEXT NOT NULL, session TEXT NOT NULL, touched REAL NOT NULL,
                 PRIMARY KEY (agent, place)) STRICT, WITHOUT ROWID""",
        ),
    ),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Open:
    session: str
    transcript: str = ""
    started: float = 0.0
    touched: float = 0.0
    owner: Process | None = None

    def over(self, now: float) -> bool:
        """Its process is gone; or, where that is not known, nothing has happened for long, in the transcript neither."""
        if self.owner is not None:
            return not alive(self.owner)
        return now - max(self.touched, _changed(self.transcript)) >= _IDLE


def note(state: str, agent: str, cwd: str, one: Open) -> None:
    """It is there. What was known of its beginning stays."""
    owner = one.owner or Process(pid=0, began=0)
    row = (agent, one.session, cwd, one.transcript, owner.pid, owner.began, one.started, one.touched)

    def write(at: sqlite3.Connection) -> None:
        at.execute(
            "INSERT INTO open_sessions VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET"
            " touched = excluded.touched, pid = iif(excluded.pid, excluded.pid, pid),"
            " began = iif(excluded.pid, excluded.began, began),"
            " transcript = CASE excluded.transcript WHEN '' THEN transcript ELSE excluded.transcript END",
            row,
        )

    _with(state, write, None)


def touch(state: str, agent: str, one: Open) -> None:
    """Something happened in it, if it is open: what comes after its end does not open it again."""

    def write(at: sqlite3.Connection) -> None:
        at.execute(
            "UPDATE open_sessions SET touched = ?, transcript = CASE ? WHEN '' THEN transcript ELSE ? END"
            " WHERE agent = ? AND session = ?",
            (one.touched, one.transcript, one.transcript, agent, one.session),
        )

    _with(state, write, None)


def only_open(state: str, agent: str, cwd: str, owner: Process | None) -> str:
    """The one session that is open here, in this process if it is known; "" if there are several or none."""

    def look(at: sqlite3.Connection) -> str:
        rows = at.execute(
            "SELECT session FROM open_sessions WHERE agent = ? AND cwd = ? AND (? = 0 OR pid = ?) LIMIT 2",
            (agent, cwd, owner.pid if owner else 0, owner.pid if owner else 0),
        ).fetchall()
        return str(rows[0][0]) if len(rows) == 1 else ""

    return _with(state, look, "")


def close_session(state: str, agent: str, session: str) -> float:
    """It has ended; when it began, 0.0 if nobody knows."""

    def drop(at: sqlite3.Connection) -> float:
        row = at.execute(
            "DELETE FROM open_sessions WHERE agent = ? AND session = ? RETURNING started", (agent, session)
        ).fetchone()
        return float(row[0]) if row else 0.0

    return _with(state, drop, 0.0)


def name_current(state: str, agent: str, place: str, session: str, now: float) -> None:
    """What happens in this place from now on belongs to this session, where an event does not name one."""

    def write(at: sqlite3.Connection) -> None:
        at.execute("DELETE FROM current_sessions WHERE touched < ?", (now - _OLD,))
        at.execute("INSERT OR REPLACE INTO current_sessions VALUES (?, ?, ?, ?)", (agent, place, session, now))

    _with(state, write, None)


def find_current(state: str, agent: str, place: str) -> str:
    def look(at: sqlite3.Connection) -> str:
        query = "SELECT session FROM current_sessions WHERE agent = ? AND place = ?"
        row = at.execute(query, (agent, place)).fetchone()
        return str(row[0]) if row else ""

    return _with(state, look, "")


def take_abandoned(state: str, agent: str, cwd: str, now: float, besides: str) -> tuple[Open, ...]:
    """The other sessions here that are over. Of many who ask at once, one is told of each."""

    def take(at: sqlite3.Connection) -> tuple[Open, ...]:
        at.execute("DELETE FROM open_sessions WHERE touched < ?", (now - _OLD,))
        rows = at.execute(
            "SELECT session, transcript, pid, began, started, touched FROM open_sessions"
            " WHERE agent = ? AND cwd = ? AND session <> ? ORDER BY started",
            (agent, cwd, besides),
        ).fetchall()
        found = tuple(one for one in map(_row, rows) if one.over(now))
        for one in found:
            at.execute("DELETE FROM open_sessions WHERE agent = ? AND session = ?", (agent, one.session))
        return found

    return _with(state, take, ())


def _row(row: tuple[str, str, int, int, float, float]) -> Open:
    session, transcript, pid, began, started, touched = row
    owner = Process(pid=pid, began=began) if pid else None
    return Open(session=session, transcript=transcript, started=started, touched=touched, owner=owner)


def _changed(path: str) -> float:
    try:
        return os.stat(path).st_mtime if path else 0.0
    except (OSError, ValueError):
        return 0.0


def _with(state: str, do: Callable[[sqlite3.Connection], _T], otherwise: _T) -> _T:
    if not state:
        return otherwise
    with closing(Database(os.path.join(state, "open-sessions.db"), _LAYOUT)) as database:
        return database.use(do, lambda _error: otherwise)
