"""Sessions for a process that stays: what no other process has changed is kept in memory.

Most firings only count themselves. They are counted in memory, as long as SQLite says that nobody else wrote to the
file, and written down once a second; whatever decides anything (turns, modes, claims) is written at once, as always.
A kill costs at most a second of counting, which nothing but a late answer to an old event could notice.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from time import monotonic
from typing import Any

from hookline.core.session_facts import Facts, make_facts
from hookline.state.database import storable
from hookline.state.sessions.sqlite import StoredSessions

#: Seconds between two writings.
_EVERY = 1.0
#: How many sessions are remembered; beyond that all are read again.
_MAX_SESSIONS = 4096


class ResidentSessions(StoredSessions):
    """The same answers as ``StoredSessions``, most of them without a transaction."""

    def __init__(self, path: str, *, moment: Callable[[], int] | None = None, **options: Any) -> None:
        """While ``moment`` returns the same, no other process can have written to the file."""
        super().__init__(path, **options)
        self._moment = moment
        self._looked: int | None = None
        self._known: dict[tuple[str, str], Facts] = {}
        self._counted: dict[tuple[str, str], int] = {}
        self._version = -1
        self._written = monotonic()

    def begin(self, session: str, kind: str, *, typed: bool, turn: int | None = None, prompt: str = "") -> Facts:
        if not session:
            return super().begin(session, kind, typed=typed, turn=turn, prompt=prompt)
        key = (session, kind)
        with self._lock:
            if not typed and turn is None and not prompt and self._alone() and (facts := self._known.get(key)):
                self._known[key] = facts = make_facts(
                    turn=facts.turn, mode=facts.mode, generation=facts.generation + 1,
                    continuations=facts.continuations, last_prompt=facts.last_prompt,
                )  # fmt: skip
                self._counted[key] = facts.generation
                return facts
            self._write_down()
            if typed or turn is not None or prompt or len(self._known) > _MAX_SESSIONS:
                self._known.clear()
            facts = super().begin(session, kind, typed=typed, turn=turn, prompt=prompt)
            if self._connection is not None:
                self._known[key] = facts
                self._alone()
            return facts

    def due(self) -> bool:
        """Whether it is time to write down what was counted."""
        return bool(self._counted) and monotonic() > self._written + _EVERY

    def tidy(self) -> None:
        """Write the counts; called when there is time."""
        with self._lock:
            self._write_down()
            self._alone()  # so that our own write does not count as another process's

    def peek(self, session: str, kind: str, *, typed: bool = False, turn: int | None = None, prompt: str = "") -> Facts:
        with self._lock:
            self._write_down()
            return super().peek(session, kind, typed=typed, turn=turn, prompt=prompt)

    def settle(self, session: str, *, mode: str | None, continuations: int | None) -> None:
        with self._lock:
            self._forget_all()
            super().settle(session, mode=mode, continuations=continuations)

    def forget(self, session: str) -> None:
        with self._lock:
            self._forget_all()
            super().forget(session)

    def close(self) -> None:
        with self._lock:
            self._forget_all()
            super().close()

    def _forget_all(self) -> None:
        self._write_down()
        self._known.clear()

    def _alone(self) -> bool:
        """Whether no other process has written since the last check; our own writes do not count."""
        connection = self._connection
        if connection is None:
            self._known.clear()
            return False
        moment = self._moment() if self._moment is not None else None
        if moment is not None and moment == self._looked:
            return True
        try:
            version = int(connection.execute("PRAGMA data_version").fetchone()[0])
        except sqlite3.Error:
            version = -1
        self._looked = moment
        if version != self._version:
            self._version = version
            self._known.clear()
            return False
        return True

    def _write_down(self) -> None:
        """Write what was counted in memory. A write that fails is lost."""
        self._written = monotonic()
        counted, self._counted = self._counted, {}
        if not counted:
            return

        def stored(at: sqlite3.Connection) -> None:
            for (session, kind), generation in counted.items():
                number, _ = self._touch(at, session)
                at.execute(
                    "INSERT INTO generations VALUES (?, ?, ?)"
                    " ON CONFLICT DO UPDATE SET generation = max(generation, excluded.generation)",
                    (number, storable(kind), generation),
                )

        self._do("counted", stored, lambda: None)
