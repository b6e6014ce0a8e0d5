"""Sessions that separate processes share by naming the same id.

In a process that stays, what no other process has changed is kept in memory. Most firings only count themselves. They are
counted in memory, as long as SQLite says that nobody else wrote to the file, and written down once a second; whatever
decides anything (turns, modes, claims) is written at once, as always. A kill costs at most a second of counting, which
nothing but a late answer to an old event could notice.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from time import monotonic

from hookline.core.fast_json import dumps, loads
from hookline.core.hook import Gates
from hookline.core.session_facts import Facts, make_facts
from hookline.core.typed import TYPE_CHECKING, Any, TypeVar
from hookline.state.database import Database, Schema, storable
from hookline.state.sessions import MemorySessions
from hookline.state.sessions.rules import SessionState, add_claim, apply_decision, claim_refusal, open_turn, to_facts

if TYPE_CHECKING:
    import sqlite3
else:
    # The package adds adapters of dates, which a cold call would wait for and nothing of ours uses.
    import _sqlite3 as sqlite3

_T = TypeVar("_T")

#: How many names of sessions a process remembers that it has examined.
_MOST_LABELS = 256
#: A session that was not used for this long is forgotten.
_KEEP_SECONDS = 30 * 86_400.0

_LAYOUT = Schema(
    application_id=0x484B5353,
    migrations=(
        (
            """CREATE TABLE sessions (
                 number INTEGER PRIMARY KEY, session TEXT NOT NULL UNIQUE, turn INTEGER NOT NULL, mode TEXT NOT NULL,
                 continuations INTEGER NOT NULL, last_prompt TEXT NOT NULL, touched REAL NOT NULL) STRICT""",
            "CREATE INDEX sessions_touched ON sessions (touched)",
            """CREATE TABLE generations (
                 number INTEGER NOT NULL, kind TEXT NOT NULL, generation INTEGER NOT NULL,
                 PRIMARY KEY (number, kind)) STRICT, WITHOUT ROWID""",
            """CREATE TABLE claims (
                 number INTEGER NOT NULL, hook TEXT NOT NULL, ran TEXT NOT NULL,
                 PRIMARY KEY (number, hook)) STRICT, WITHOUT ROWID""",
        ),
    ),
)


class StoredSessions(Database):
    """Every operation is one immediate transaction. A session without a name is kept in memory, for this process only.

    ``clean`` takes secrets out of a prompt, and of a session's name, before they are written to the disk.
    ``brief``: the process ends right after, with ``os._exit``.
    """

    def __init__(
        self,
        path: str,
        *,
        clean: Callable[[str], str] = str,
        clock: Callable[[], float] = time.time,
        brief: bool = False,
    ) -> None:
        super().__init__(path, _LAYOUT, brief=brief)
        self._clean = clean
        self._clock = clock
        self._fallback: MemorySessions | None = None
        self._labels: dict[str, str] = {}

    # ── the protocol ─────────────────────────────────────────────────────────────────────────────────

    @property
    def _memory(self) -> MemorySessions:
        """Used while the database cannot be."""
        with self._lock:
            if self._fallback is None:
                self._fallback = MemorySessions(self._clock)
            return self._fallback

    def begin(self, session: str, kind: str, *, typed: bool, turn: int | None = None, prompt: str = "") -> Facts:
        def stored(at: sqlite3.Connection) -> Facts:
            number, state = self._touch(at, session)
            if typed or turn is not None or prompt:
                state = open_turn(state, typed=typed, turn=turn, prompt=storable(self._clean(prompt)))
                _keep(at, number, state)
            row = at.execute(
                "INSERT INTO generations VALUES (?, ?, 1)"
                " ON CONFLICT DO UPDATE SET generation = generation + 1 RETURNING generation",
                (number, storable(kind)),
            ).fetchone()
            return to_facts(state, row[0])

        return self._do(
            session, stored, lambda: self._memory.begin(session, kind, typed=typed, turn=turn, prompt=prompt)
        )

    def peek(self, session: str, kind: str, *, typed: bool = False, turn: int | None = None, prompt: str = "") -> Facts:
        def stored(at: sqlite3.Connection) -> Facts:
            number, state = _find(at, self._label(session))
            row = at.execute(
                "SELECT generation FROM generations WHERE number = ? AND kind = ?", (number, storable(kind))
            ).fetchone()
            state = open_turn(state, typed=typed, turn=turn, prompt=storable(self._clean(prompt)))
            return to_facts(state, row[0] if row else 0)

        return self._do(
            session, stored, lambda: self._memory.peek(session, kind, typed=typed, turn=turn, prompt=prompt)
        )

    def claim(self, session: str, hook_id: str, gates: Gates, now: float) -> str:
        def stored(at: sqlite3.Connection) -> str:
            number, _ = self._touch(at, session)
            ran = _ran(at, number, hook_id)
            why = claim_refusal(ran, gates, now)
            if not why:
                times = dumps(add_claim(ran, now))
                at.execute("INSERT OR REPLACE INTO claims VALUES (?, ?, ?)", (number, storable(hook_id), times))
            return why

        return self._do(session, stored, lambda: self._memory.claim(session, hook_id, gates, now))

    def would_claim(self, session: str, hook_id: str, gates: Gates, now: float) -> str:
        def stored(at: sqlite3.Connection) -> str:
            number, _ = _find(at, self._label(session))
            return claim_refusal(_ran(at, number, hook_id), gates, now)

        return self._do(session, stored, lambda: self._memory.would_claim(session, hook_id, gates, now))

    def settle(self, session: str, *, mode: str | None, continuations: int | None) -> None:
        def stored(at: sqlite3.Connection) -> None:
            number, state = self._touch(at, session)
            clean_mode = None if mode is None else storable(mode)
            _keep(at, number, apply_decision(state, mode=clean_mode, continuations=continuations))

        self._do(session, stored, lambda: self._memory.settle(session, mode=mode, continuations=continuations))

    def forget(self, session: str) -> None:
        self._memory.forget(session)
        self._do(session, lambda at: _drop(at, "session = ?", self._label(session)), lambda: 0)

    def prune(self, older_than: float) -> int:
        forgotten = self._memory.prune(older_than)
        return forgotten + self._do("all", lambda at: _drop(at, "touched < ?", older_than), lambda: 0)

    # ── the file ─────────────────────────────────────────────────────────────────────────────────────

    def _do(self, session: str, stored: Callable[[sqlite3.Connection], _T], remembered: Callable[[], _T]) -> _T:
        """In the store if it works and the session has a name; else in memory, with a note."""
        if not session:
            return remembered()
        with self._lock:
            if monotonic() < self._retry_at:
                return remembered()
            return self.use(stored, lambda error: self._failed(error, remembered))

    def _failed(self, error: Exception, remembered: Callable[[], _T]) -> _T:
        note = f"session state is kept in memory only: {error}"
        if self._replace_broken(error):
            self.note = self.note or note
        else:
            self._give_up(note)
        return remembered()

    def _label(self, session: str) -> str:
        """What a session is called on the disk: its name, or, if that holds a secret, something else of its own."""
        known = self._labels.get(session)
        if known is None:
            clean = self._clean(session)
            if clean != session:
                from hashlib import sha256  # hardly any session's name holds a secret

                clean += f" {sha256(session.encode(errors='replace')).hexdigest()[:16]}"
            if len(self._labels) > _MOST_LABELS:
                self._labels.clear()
            known = self._labels[session] = storable(clean)
        return known

    def _touch(self, at: sqlite3.Connection, session: str) -> tuple[int, SessionState]:
        now, label = self._clock(), self._label(session)
        row = at.execute(
            "UPDATE sessions SET touched = ? WHERE session = ?"
            " RETURNING number, turn, mode, continuations, last_prompt",
            (now, label),
        ).fetchone()
        if row is not None:
            return row[0], _state(row)
        made = at.execute("INSERT INTO sessions VALUES (NULL, ?, 0, '', 0, '', ?)", (label, now))
        number = made.lastrowid or 0
        if number % 64 == 0:
            _drop(at, "touched < ?", now - _KEEP_SECONDS)
        return number, SessionState()


def _find(at: sqlite3.Connection, session: str) -> tuple[int, SessionState]:
    row = at.execute(
        "SELECT number, turn, mode, continuations, last_prompt FROM sessions WHERE session = ?", (session,)
    ).fetchone()
    return (row[0], _state(row)) if row else (0, SessionState())


def _state(row: tuple[int, int, str, int, str]) -> SessionState:
    return SessionState(turn=row[1], mode=row[2], continuations=row[3], last_prompt=row[4])


def _keep(at: sqlite3.Connection, number: int, state: SessionState) -> None:
    at.execute(
        "UPDATE sessions SET turn = ?, mode = ?, continuations = ?, last_prompt = ? WHERE number = ?",
        (state.turn, state.mode, state.continuations, state.last_prompt, number),
    )


def _ran(at: sqlite3.Connection, number: int, hook_id: str) -> tuple[float, ...]:
    row = at.execute("SELECT ran FROM claims WHERE number = ? AND hook = ?", (number, storable(hook_id))).fetchone()
    return tuple(loads(row[0])) if row else ()


def _drop(at: sqlite3.Connection, which: str, value: str | float) -> int:
    numbers = at.execute(f"SELECT number FROM sessions WHERE {which}", (value,)).fetchall()
    for table in ("generations", "claims", "sessions"):
        at.executemany(f"DELETE FROM {table} WHERE number = ?", numbers)
    return len(numbers)


# ── for a process that stays ─────────────────────────────────────────────────────────────────────────

#: Seconds between two writings.
_WRITE_EVERY = 1.0
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
        return bool(self._counted) and monotonic() > self._written + _WRITE_EVERY

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
