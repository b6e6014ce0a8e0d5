"""The store of firings: one SQLite file that several processes write to at once."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress

from hookline.core.errors import StateError
from hookline.core.fast_json import dumps, loads
from hookline.core.result import Outcome
from hookline.core.settings import RecordSettings
from hookline.core.typed import TYPE_CHECKING, Any
from hookline.state.database import Database, Schema, transaction
from hookline.state.record import Record

if TYPE_CHECKING:
    import sqlite3

    from hookline.state.record.redact import Redactor
else:
    # The package adds adapters of dates, which a cold call would wait for and nothing of ours uses.
    import _sqlite3 as sqlite3

#: Every so many firings, counted over all processes, a bounded batch of old ones is deleted.
_PRUNE_EVERY = 64
#: A block of firings is full every so many.
BLOCK = 1024
#: Callers whose environments are remembered.
MOST_CALLERS = 8
_PRUNE_BATCH = 256

_LAYOUT = Schema(
    application_id=0x484B4C52,
    migrations=(
        (
            """CREATE TABLE firings (
                 number INTEGER PRIMARY KEY, id TEXT NOT NULL, time REAL NOT NULL, session TEXT NOT NULL,
                 turn INTEGER NOT NULL, agent TEXT NOT NULL, event TEXT NOT NULL, native_event TEXT NOT NULL,
                 cwd TEXT NOT NULL, effect TEXT NOT NULL, granted INTEGER NOT NULL, reason TEXT NOT NULL,
                 aborted TEXT, modified INTEGER NOT NULL, ms REAL NOT NULL, pid INTEGER NOT NULL,
                 data TEXT NOT NULL, before TEXT, context TEXT, messages TEXT, attributes TEXT, conflicts TEXT,
                 ignored TEXT) STRICT""",
            # One index that only grows at its end. An index for each filter was tried: every one adds a page to every
            # commit, and writing cost twice as much.
            "CREATE INDEX firings_look ON firings (number, time, session, event, effect, id)",
            "CREATE INDEX firings_effect ON firings (effect, time) WHERE effect <> 'allow'",
            """CREATE TABLE runs (
                 firing INTEGER NOT NULL, position INTEGER NOT NULL, hook_id TEXT NOT NULL, hook TEXT NOT NULL,
                 dialect TEXT NOT NULL, status TEXT NOT NULL, effect TEXT, exit_code INTEGER, ms REAL NOT NULL,
                 error TEXT NOT NULL, stdout TEXT NOT NULL, stderr TEXT NOT NULL, spilled TEXT,
                 PRIMARY KEY (firing, position)) STRICT, WITHOUT ROWID""",
            "CREATE INDEX runs_hook ON runs (hook_id, firing, status, ms, effect)",
            "CREATE INDEX runs_failed ON runs (firing, status) WHERE status IN ('failed', 'timed-out')",
            # Which ids a name has had, so that runs need no index by name.
            "CREATE TABLE hooks (hook TEXT NOT NULL, hook_id TEXT NOT NULL, PRIMARY KEY (hook, hook_id)) STRICT, WITHOUT ROWID",
        ),
        # Tokens and cost of a hook that called a model.
        ("ALTER TABLE runs ADD COLUMN usage TEXT",),
        # What the agent sent and got, as far as the data do not say it; what a hook changed, and why it was skipped.
        ("ALTER TABLE firings ADD COLUMN wire TEXT", "ALTER TABLE runs ADD COLUMN detail TEXT"),
        # What filters look in (``blocks``). Firings of before are entered by whoever filters first, not here: a hook
        # may be waiting.
        (
            """CREATE TABLE blocks (
                 block INTEGER NOT NULL, hour INTEGER NOT NULL, session TEXT NOT NULL, agent TEXT NOT NULL,
                 cwd TEXT NOT NULL, event TEXT NOT NULL, effect TEXT NOT NULL, statuses TEXT NOT NULL,
                 PRIMARY KEY (block, hour, session, agent, cwd, event, effect, statuses)) STRICT, WITHOUT ROWID""",
        ),
        # Most hooks have nothing to say of most events. Those of one firing that said and printed nothing are one row
        # of ``quiet``: which they were (``plans``, one for all firings with the same ones), and how long each took. A
        # row of ``runs`` for each cost more than the hook itself, and most of the disk.
        (
            """CREATE TABLE plans (
                 plan INTEGER NOT NULL, place INTEGER NOT NULL, position INTEGER NOT NULL, hook_id TEXT NOT NULL,
                 hook TEXT NOT NULL, dialect TEXT NOT NULL, exit_code INTEGER, PRIMARY KEY (plan, place)
               ) STRICT, WITHOUT ROWID""",
            "CREATE INDEX plans_hook ON plans (hook_id, plan)",
            "CREATE TABLE quiet (firing INTEGER PRIMARY KEY, plan INTEGER NOT NULL, ms TEXT NOT NULL CHECK (json_valid(ms))) STRICT",
            "CREATE INDEX quiet_plan ON quiet (plan, firing)",
            """CREATE VIEW every_run AS SELECT * FROM runs UNION ALL
                 SELECT firing, position, hook_id, hook, dialect, 'replied', NULL, exit_code,
                   json_extract(ms, '$[' || place || ']'), '', '', '', NULL, NULL, NULL
                 FROM quiet JOIN plans USING (plan)""",
        ),
    ),
)

_INSERT_FIRING = f"INSERT INTO firings VALUES (NULL{', ?' * 23})"
INSERT_NUMBERED = f"INSERT INTO firings VALUES (?{', ?' * 23})"
INSERT_RUN = f"INSERT INTO runs VALUES (?{', ?' * 14})"


class Store(Database):
    """Keeps records, redacted, until they are too old or too many. Survives whatever happens to its file.

    ``keep_days`` and ``keep_mb`` of 0 mean no limit. ``brief``: the process ends right after, with ``os._exit``.
    """

    def __init__(
        self,
        path: str,
        *,
        patterns: Sequence[str] = (),
        keep_days: float = 30,
        keep_mb: float = 200,
        brief: bool = False,
    ) -> None:
        super().__init__(path, _LAYOUT, brief=brief)
        self._patterns = tuple(patterns)
        self._keep_days = keep_days
        self._keep_mb = keep_mb
        self._unreadable = False
        self._known: set[tuple[str, str]] = set()
        #: That of the latest firing.
        self._redactor: Redactor | None = None
        #: The environments of the latest callers, each with its own.
        self._redactors: list[tuple[dict[str, str], Redactor]] = []

    # ── writing ──────────────────────────────────────────────────────────────────────────────────────

    def write(self, record: Record) -> str | None:
        """One transaction. None when it could not be kept; ``note`` then says why, for a person to read."""
        with self._lock:
            if time.monotonic() < self._retry_at:
                return None
            for attempt in (1, 2):
                try:
                    return self._write(record)
                except (sqlite3.Error, StateError, OSError) as error:
                    if attempt == 2 or not self._replace_broken(error):
                        self._not_recorded(error)
                        return None
        return None

    def _write(self, record: Record) -> str:
        connection = self._connect()
        from hookline.state.record.rows import make_rows, record_environ  # who only reads does without

        redactor = self._redactor_of(record_environ(record))
        now = record.event.time or time.time()
        name = record.event.id or new_id(now)
        row, runs = make_rows(record, redactor, name=name, time=now, pid=self._pid)
        with transaction(connection):
            number = connection.execute(_INSERT_FIRING, row).lastrowid or 0
            for run in runs:
                connection.execute(INSERT_RUN, (number, *run))
                self._know(connection, run[2], run[1])
        self._tidy(number, 1)
        return str(row[0])

    def _tidy(self, number: int, written: int) -> None:
        """After firings up to this number were written."""
        if number % BLOCK < written:
            self.enter_blocks()
        if number % _PRUNE_EVERY < written:
            self.prune()

    def enter_blocks(self, *, every: bool = False) -> None:
        """So that filters find firings quickly; without it they find them slowly."""
        from hookline.state.record.blocks import enter_all, enter_full  # once in a thousand firings

        with self._lock, suppress(sqlite3.Error, StateError, OSError):
            (enter_all if every else enter_full)(self._connect())

    def _know(self, connection: sqlite3.Connection, hook: str, hook_id: str) -> None:
        if (hook, hook_id) not in self._known:
            connection.execute("INSERT OR IGNORE INTO hooks VALUES (?, ?)", (hook, hook_id))
            self._known.add((hook, hook_id))

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        """A hook that ran in the background has ended: its row says how. A write that fails is lost."""

        from hookline.state.record.blocks import enter_again  # few hooks run in the background
        from hookline.state.record.rows import late_row

        def write(connection: sqlite3.Connection) -> None:
            row = late_row(outcome, self._redactor or self._redactor_of({}))
            connection.execute(
                "UPDATE runs SET status = ?, effect = ?, exit_code = ?, ms = ?, error = ?, stdout = ?, stderr = ?,"
                " spilled = ?, usage = ?, detail = ? WHERE hook_id = ? AND firing = (SELECT max(number) FROM firings WHERE id = ?)",
                (*row, outcome.id, event_id),
            )
            if aborts:
                error = row[4]
                connection.execute(
                    "UPDATE firings SET effect = 'deny', granted = 0, reason = ?, aborted = ?"
                    " WHERE aborted IS NULL AND number = (SELECT max(number) FROM firings WHERE id = ?)",
                    (error, dumps({"hook": outcome.hook, "message": error}), event_id),
                )
            enter_again(connection, event_id)

        self.use(write, self._not_recorded)

    def mark(self, event_id: str, text: str) -> None:
        """One more line of what was left undone. A write that fails is lost."""
        statement = (
            "UPDATE firings SET ignored = json_insert(coalesce(ignored, '[]'), '$[#]',"
            " json_object('hook', 'hookline', 'text', ?)) WHERE number = (SELECT max(number) FROM firings WHERE id = ?)"
        )

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(statement, (text, event_id))

        self.use(write, self._not_recorded)

    def _redactor_of(self, environ: Mapping[str, str]) -> Redactor:
        """Callers are few, and their environments rarely change: comparing one is cheaper than examining it."""
        for known, redactor in tuple(self._redactors):
            if known == environ:
                self._redactor = redactor
                return redactor
        from hookline.state.record.redact import Redactor  # who only reads does without

        self._redactor = redactor = Redactor(environ, self._patterns)
        self._redactors = [*self._redactors[1 - MOST_CALLERS :], (dict(environ), redactor)]
        return redactor

    # ── reading ──────────────────────────────────────────────────────────────────────────────────────

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
        """The rows of a query; none when the store cannot be read, and ``note`` says why."""
        with self._lock:
            try:
                rows = self._connect().execute(statement, arguments).fetchall()
            except (StateError, sqlite3.Error, OSError) as error:
                self._disconnect()
                self.note, self._unreadable = f"the record cannot be read: {error}", True
                return []
            if self._unreadable:  # that is over
                self.note, self._unreadable = "", False
            return rows

    def size(self) -> int:
        """Bytes on disk, the write-ahead log included."""
        total = 0
        for suffix in ("", "-wal"):
            with suppress(OSError):
                total += os.stat(self.path + suffix).st_size
        return total

    # ── keeping it small ─────────────────────────────────────────────────────────────────────────────

    def prune(self, batch: int = _PRUNE_BATCH) -> int:
        """Delete at most ``batch`` firings that are too old or too many, the oldest first; how many they were."""
        with self._lock:
            try:
                connection = self._connect()
                numbers = self._expired(connection, batch)
                if numbers:
                    _delete(connection, numbers)
            except (StateError, sqlite3.Error, OSError) as error:
                self.note = f"old records could not be removed: {error}"
                return 0
            return len(numbers)

    def _expired(self, connection: sqlite3.Connection, batch: int) -> list[tuple[int]]:
        if self._keep_mb and _used_bytes(connection) > self._keep_mb * (1 << 20):
            return connection.execute("SELECT number FROM firings ORDER BY number LIMIT ?", (batch,)).fetchall()
        if not self._keep_days:
            return []
        cutoff = time.time() - self._keep_days * 86_400
        return connection.execute(
            "SELECT number FROM (SELECT number, time FROM firings INDEXED BY firings_look ORDER BY number LIMIT ?)"
            " WHERE time < ?",
            (batch, cutoff),
        ).fetchall()

    def sessions(self) -> set[str]:
        """Raises sqlite3.Error and StateError."""
        with self.connection() as connection:
            return {session for (session,) in connection.execute("SELECT DISTINCT session FROM firings")}

    def forget(self, session: str) -> int:
        """Delete every firing of a session, on the disk too, with the files of long outputs; how many firings.

        Raises sqlite3.Error and StateError.
        """
        return self._erase("session = ?", session)

    def forget_before(self, when: float) -> int:
        """The same for every firing before this time."""
        return self._erase("time < ?", when)

    def count_before(self, when: float) -> int:
        """Raises sqlite3.Error and StateError."""
        with self.connection() as connection:
            return int(connection.execute("SELECT count(*) FROM firings WHERE time < ?", (when,)).fetchone()[0])

    def _erase(self, condition: str, value: str | float) -> int:
        with self.connection() as connection:
            numbers = connection.execute(f"SELECT number FROM firings WHERE {condition}", (value,)).fetchall()
            if not numbers:
                return 0
            connection.execute("PRAGMA secure_delete = ON")
            spilled = "SELECT spilled FROM runs WHERE firing = ? AND spilled IS NOT NULL"
            kept = [loads(text) for number in numbers for (text,) in connection.execute(spilled, number)]
            _delete(connection, numbers)
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            for path in (path for paths in kept for path in paths):
                with suppress(OSError):
                    os.unlink(path)
            return len(numbers)

    def remove_context(self, texts: Sequence[str]) -> int:
        """Remove the context from every record that holds one of these texts; how many firings. As ``forget``."""
        forms = {form for text in texts for form in (text, _in_json(text), _in_json(_in_json(text))) if text}
        with self.connection() as connection:
            rows = connection.execute("SELECT number, context FROM firings WHERE context IS NOT NULL")
            found = [(number,) for number, context in rows if any(form in context for form in forms)]
            if found:
                connection.execute("PRAGMA secure_delete = ON")
                with transaction(connection):
                    connection.executemany("UPDATE firings SET context = NULL, wire = NULL WHERE number = ?", found)
                    connection.executemany("UPDATE runs SET stdout = '', detail = NULL WHERE firing = ?", found)
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
            return len(found)

    def _start_over(self) -> None:
        self._known = set()

    def _not_recorded(self, error: Exception) -> None:
        self._give_up(f"the firing was not recorded: {error}")


def store_in(state: str, settings: RecordSettings, *, brief: bool = False) -> Store:
    """The store of a state directory: one file for all processes. ``brief`` is for a process that fires once."""
    path, note = os.path.join(state, "hookline.db"), ""
    if _has_lines(f"{path}.journal"):
        from hookline.state.record.journal import recover_journal  # only while or after a process keeps a journal

        note = recover_journal(path, patience=0.0 if brief else 0.5)
    store = Store(path, patterns=settings.redact, keep_days=settings.keep_days, keep_mb=settings.keep_mb, brief=brief)
    store.note = note
    return store


def _has_lines(journal: str) -> bool:
    try:
        return os.stat(journal).st_size > 0
    except OSError:
        return False


def new_id(now: float) -> str:
    """Sorts by time, and is short enough to be typed by its first letters."""
    return f"{int(now * 1e6) & 0xFFFFFFFFFFFFFFF:014x}{os.urandom(3).hex()}"


def _in_json(text: str) -> str:
    return dumps(text, ensure_ascii=False)[1:-1]


def _delete(connection: sqlite3.Connection, numbers: list[tuple[int]]) -> None:
    from hookline.state.record.blocks import leave  # few firings delete any

    with transaction(connection):
        connection.executemany("DELETE FROM runs WHERE firing = ?", numbers)
        connection.executemany("DELETE FROM quiet WHERE firing = ?", numbers)
        connection.execute("DELETE FROM plans WHERE NOT EXISTS (SELECT 1 FROM quiet WHERE quiet.plan = plans.plan)")
        connection.executemany("DELETE FROM firings WHERE number = ?", numbers)
        leave(connection, numbers)
    connection.execute("PRAGMA incremental_vacuum(512)").fetchall()


def _used_bytes(connection: sqlite3.Connection) -> int:
    pages, free, size = (
        int(connection.execute(f"PRAGMA {name}").fetchone()[0])
        for name in ("page_count", "freelist_count", "page_size")
    )
    return (pages - free) * size
