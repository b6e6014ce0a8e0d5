"""For a process that stays: a record is safe once it is in the journal, and reaches the store a moment later.

A transaction of its own costs every firing a third of its time, while appending a line to an open file is one system
call, which a kill cannot undo. The process that opens the store after a kill finds the journal unlocked and takes it
over.
"""

from __future__ import annotations

import json
import os
import sqlite3
import threading
import time
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from hookline.core.errors import StateError
from hookline.core.files import open_locked, open_without_waiting
from hookline.core.hook import HookSpec
from hookline.core.paths import private_dir
from hookline.core.result import Outcome
from hookline.core.settings import RecordSettings
from hookline.state.database import BUSY_SECONDS, RETRY_AFTER, file_inode, transaction
from hookline.state.record import Record
from hookline.state.record.fast_path import PlainRows, Rows, insert_many, quickest, quickest_line
from hookline.state.record.redact import Redactor
from hookline.state.record.rows import Writer, make_rows, record_environ
from hookline.state.record.store import INSERT_NUMBERED, INSERT_RUN, MOST_CALLERS, Store, new_id

#: Seconds in which firings are gathered for one transaction. Shorter ones make two threads fight for the interpreter.
_GATHER = 0.1
#: How many firings may wait for a store that cannot be written to; more are written directly.
_MAX_WAITING = 10_000
#: Seconds until a journal that is locked is tried again; the next time twice as long.
_FIRST_RETRY = 0.05
#: Milliseconds to wait for other writers of the store where the next occasion does as well.
_MOMENT = 100
#: Firings after which the writing thread flushes by itself: a background thread gets no turn beside a tight loop.
HANDFUL = 256


#: Values of one row, without the number that the store gives.
_FIRING_COLUMNS, _RUN_COLUMNS = INSERT_NUMBERED.count("?") - 1, INSERT_RUN.count("?") - 1


class JournaledStore(Store):
    """A ``Store`` whose ``write`` returns when the record is in the journal.

    ``helped``: the caller calls ``carry`` when it has the time, so that ``write`` itself never takes long.
    """

    def __init__(self, path: str, *, helped: bool = False, **options: Any) -> None:
        super().__init__(path, **options)
        self._helped = helped
        self._written, self._line = quickest(), quickest_line()
        self._written_by = os.getpid()
        self._plain: PlainRows | None = None
        #: One for each redactor, as long as there are few.
        self._plains: dict[Redactor, PlainRows] = {}
        self._latest: Mapping[str, str] | None = None
        #: The hooks of the latest firing, if none of them brings variables of its own.
        self._bare: Mapping[str, HookSpec] | None = None
        self._handle: int | None = None
        self._waiting: list[Rows] = []
        self._file_lock = threading.Lock()
        self._has_work = threading.Event()
        self._closed = False
        #: How often ``carry`` did something.
        self._carried = 0
        #: When the next attempt to carry records over is worth making.
        self._not_before = 0.0
        #: And the next one to open a journal that another process has: mostly one that recovers it, which takes
        #: milliseconds, sometimes one that writes to it for as long as it lives.
        self._try_again, self._pause = 0.0, _FIRST_RETRY

    def write(self, record: Record) -> str | None:
        if (self._handle is None and not self._start()) or len(self._waiting) > _MAX_WAITING:
            return super().write(record)
        now = record.event.time or time.time()
        with self._file_lock:
            rows = self._rows(record, record.event.id or new_id(now), now)
            whole = self._appended(self._line(rows))
            if whole:
                self._waiting.append(rows)
        if not whole:
            return super().write(record)
        if not self._has_work.is_set():
            self._has_work.set()
        if not self._helped:
            self.carry()
        return str(rows[0][0])

    def _appended(self, line: bytes) -> bool:
        """Whether all of it is in the journal; else nothing of it is. The caller holds the file lock."""
        handle = self._handle
        if handle is None:  # closed by another thread
            return False
        try:
            written = os.write(handle, line)
        except OSError:
            return False
        if written < len(line):  # on a full disk; the next line must not begin in the middle of this one
            with suppress(OSError):
                os.ftruncate(handle, os.fstat(handle).st_size - written)
        return written == len(line)

    def _rows(self, record: Record, name: str, now: float) -> Rows:
        environ = record.event.environ if record.specs is self._bare else self._environ_of(record)
        if self._plain is None or environ is not self._latest or not self._helped:
            redactor = self._redactor_of(environ)
            self._plain = self._plains.get(redactor)
            if self._plain is None:
                if len(self._plains) >= MOST_CALLERS:
                    self._plains.clear()
                self._plain = self._plains[redactor] = PlainRows(redactor)
            self._latest = environ
        pid, written = self._written_by, self._written
        plain = self._plain.of(record, name=name, time=now, pid=pid, written=written)
        return plain or make_rows(record, self._plain.redactor, name=name, time=now, pid=pid, written=written)

    def _environ_of(self, record: Record) -> Mapping[str, str]:
        if self._helped and not any(spec.environ for spec in record.specs.values()):
            self._bare = record.specs
        return record_environ(record)

    def carry(self) -> None:
        """Flush a handful into the store, unless another thread is doing it."""
        due = len(self._waiting) >= HANDFUL and time.monotonic() > self._not_before
        if due and self._lock.acquire(blocking=False):
            try:
                self._carried += self.flush(patient=False)
            finally:
                self._lock.release()

    def _start(self) -> bool:
        """Open the journal with the first record, so that loading hooks leaves no file behind. Whether there is one
        now: a second process writes directly."""
        if self._closed or time.monotonic() < self._try_again:
            return False
        with self._lock, self._file_lock:  # in the order in which flush takes them
            if self._handle is not None or time.monotonic() < self._try_again:  # another thread was quicker
                return self._handle is not None
            with suppress(StateError, OSError):
                private_dir(os.path.dirname(self.path) or ".")
            self._handle = self._open_journal()
            self._try_again = time.monotonic() + self._pause
            self._pause = min(2 * self._pause, RETRY_AFTER)
            if self._handle is None:
                return False
        threading.Thread(target=self._carry, name="hookline-journal", daemon=True).start()
        return True

    def _open_journal(self) -> int | None:
        """What is in it must be carried over first, or it would be truncated with our own lines."""
        self._waiting += recover(self)
        return _locked(journal_path(self.path))

    def _open_again(self, handle: int) -> int:
        """A journal that was deleted, or moved with its directory, could not be recovered after a kill."""
        if os.fstat(handle).st_ino == file_inode(journal_path(self.path)):
            return handle
        another = self._open_journal()
        if another is None:
            return handle
        os.close(handle)
        return another

    def amend(self, event_id: str, outcome: Outcome, *, aborts: bool = False) -> None:
        self.flush()
        super().amend(event_id, outcome, aborts=aborts)

    def mark(self, event_id: str, text: str) -> None:
        self.flush()
        super().mark(event_id, text)

    def read(self, statement: str, arguments: Sequence[Any] = ()) -> list[Any]:
        if self._handle is None:
            self._start()
        self.flush()
        return super().read(statement, arguments)

    def flush(self, *, patient: bool = True) -> bool:
        """Everything that waits goes into the store; what cannot stays in the journal, and False says so."""
        with self._lock:
            with self._file_lock:
                rows, self._waiting = self._waiting, []
            if not rows:
                return True
            if not self.keep(rows, patient=patient):
                self._not_before = time.monotonic() + 1
                with self._file_lock:
                    self._waiting = rows + self._waiting
                return False
            with self._file_lock:
                if not self._waiting and self._handle is not None:
                    os.ftruncate(self._handle, 0)
                    self._handle = self._open_again(self._handle)
            return True

    def keep(self, many: Sequence[Rows], *, patient: bool = True) -> bool:
        """All of them in one transaction; whether it could be made."""
        number = 0
        with self._lock:
            try:
                connection = self._connect()
                with _waiting_for_others(connection, patient=patient), transaction(connection):
                    latest = connection.execute("SELECT max(number) FROM firings").fetchone()[0] or 0
                    hooks, unfit = _insert_fitting(connection, many, latest, self._written)
                    for hook, hook_id in hooks - self._known:
                        self._know(connection, hook, hook_id)
                    number = latest + len(many)
            except (sqlite3.Error, StateError, OSError) as error:
                if patient or getattr(error, "sqlite_errorcode", 0) != sqlite3.SQLITE_BUSY:
                    self._not_recorded(error)
                return False
        if unfit:
            self.set_aside([json.dumps(rows).encode() for rows in unfit])
        self._tidy(number, len(many))
        return True

    def set_aside(self, lines: Sequence[bytes]) -> None:
        """Lines that cannot be recorded are kept in a file beside the journal, for a person to look at."""
        aside = f"{journal_path(self.path)}.bad"
        with suppress(OSError):
            handle = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            with os.fdopen(handle, "ab") as file:
                file.write(b"".join(line + b"\n" for line in lines))
        many = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
        self.note = f"{many} of {journal_path(self.path)} could not be recorded; moved to {aside}"

    def close(self) -> None:
        self._closed = True
        self._has_work.set()
        self.flush()
        super().close()
        with self._file_lock:
            handle, self._handle = self._handle, None
            if handle is not None:
                os.close(handle)

    def _start_over(self) -> None:
        super()._start_over()
        if (
            self._connection is not None
        ):  # what is only appended needs few pages, and twice as many are never given back
            self._connection.execute("PRAGMA cache_size = -1000")

    def _carry(self) -> None:
        while not self._closed:
            self._has_work.wait()
            carried = self._carried
            time.sleep(_GATHER)
            if self._carried != carried:  # a busy writer flushes too, and two would fight for the interpreter
                continue
            self._has_work.clear()
            if not self.flush(patient=False) and not self._closed:
                time.sleep(1)  # the store cannot be written to; the journal keeps what there is
                self._has_work.set()


@contextmanager
def _waiting_for_others(connection: sqlite3.Connection, *, patient: bool) -> Generator[None]:
    """Wait only for a moment, unless ``patient``."""
    if patient:
        yield
        return
    connection.execute(f"PRAGMA busy_timeout = {_MOMENT}")
    try:
        yield
    finally:
        connection.execute(f"PRAGMA busy_timeout = {int(BUSY_SECONDS * 1000)}")


#: What SQLite raises for a row of the wrong shape: nothing is wrong with the store.
_UNFIT = (
    UnicodeEncodeError, OverflowError, sqlite3.IntegrityError, sqlite3.ProgrammingError, sqlite3.InterfaceError,
)  # fmt: skip


def _insert_fitting(
    connection: sqlite3.Connection, many: Sequence[Rows], latest: int, written: Writer
) -> tuple[set[tuple[str, str]], Sequence[Rows]]:
    """The hooks that ran, by name and id, and the firings that no store could take. Nearly always all fit."""
    try:
        with _savepoint(connection):
            return insert_many(connection, many, latest, written), ()
    except _UNFIT:
        if len(many) == 1:
            return set(), many
    hooks: set[tuple[str, str]] = set()
    unfit: list[Rows] = []
    for at, rows in enumerate(many):
        inserted, left = _insert_fitting(connection, [rows], latest + at, written)
        hooks |= inserted
        unfit += left
    return hooks, unfit


@contextmanager
def _savepoint(connection: sqlite3.Connection) -> Generator[None]:
    connection.execute("SAVEPOINT rows")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK TO rows")
        raise
    finally:
        connection.execute("RELEASE rows")


def open_journal(state: str, settings: RecordSettings) -> JournaledStore:
    """The store of a state directory, for a process that stays."""
    path = os.path.join(state, "hookline.db")
    return JournaledStore(path, patterns=settings.redact, keep_days=settings.keep_days, keep_mb=settings.keep_mb)


def recover_journal(path: str, *, patience: float = 0.0) -> str:
    """Take the journal over if its writer is gone. A live writer is about to empty it, which a reader may wait for.

    Gives a note for a person if something could not be recorded.
    """
    store = JournaledStore(path)
    recover(store)
    store.close()
    until = time.monotonic() + patience
    while time.monotonic() < until and os.path.exists(journal_path(path)) and os.path.getsize(journal_path(path)):
        time.sleep(0.01)
    return store.note


def journal_path(path: str) -> str:
    return f"{path}.journal"


def recover(store: JournaledStore) -> list[Rows]:
    """Take over the journal of a process that was killed. Firings that already reached the store are not kept twice.

    What cannot be kept now stays in the journal and is returned.
    """
    path = journal_path(store.path)
    handle = _locked(path) if os.path.exists(path) else None
    if handle is None:
        return []
    try:
        lines = [(line, _row(line)) for line in _lines(path)]
        rows = {row[0][0]: row for _, row in lines if row is not None}  # one line twice is one firing
        known = _known(store, list(rows))
        fresh = [row for name, row in rows.items() if name not in known]
        if bad := [line for line, row in lines if row is None]:
            store.set_aside(bad)
        if fresh and not store.keep(fresh, patient=False):
            return fresh
        os.ftruncate(handle, 0)
    finally:
        os.close(handle)
    return []


def _known(store: Store, names: list[str]) -> set[str]:
    if not names:
        return set()
    latest = Store.read(store, "SELECT id FROM firings ORDER BY number DESC LIMIT ?", (len(names) + 4 * _MAX_WAITING,))
    return {str(row[0]) for row in latest}


def _locked(path: str) -> int | None:
    """The journal, if nobody else writes to it."""
    with suppress(OSError):
        return open_locked(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
    return None


def _lines(path: str) -> list[bytes]:
    try:
        with open(path, "rb", opener=open_without_waiting) as file:
            return (file.read() or b"").splitlines()
    except OSError:
        return []


def _row(line: bytes) -> Rows | None:
    """None for what is no row of this version, and for a line that a full disk cut off: its firing was written directly."""
    try:
        row, runs = json.loads(line)
        if len(row) == _FIRING_COLUMNS - 1:  # of the version before, which had neither of the last columns
            row, runs = [*row, None], [[*run, None] for run in runs]
        fits = len(row) == _FIRING_COLUMNS and all(len(run) == _RUN_COLUMNS for run in runs)
        return (tuple(row), [tuple(run) for run in runs]) if fits and isinstance(row[0], str) else None
    except (ValueError, TypeError, RecursionError):
        return None
