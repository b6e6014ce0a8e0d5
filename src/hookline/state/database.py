"""One private SQLite file: created, opened, migrated, and moved aside when it is not ours or is broken.

Whatever is wrong with the file costs at most its history, never the firing that wanted to write to it.
"""

from __future__ import annotations

import os
import stat
import time
from _thread import RLock, allocate_lock
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.core.files import lock
from hookline.core.paths import UnusableError, private_dir, unusable
from hookline.core.typed import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import sqlite3
else:
    # The package adds adapters of dates, which a cold call would wait for and nothing of ours uses.
    import _sqlite3 as sqlite3

_T = TypeVar("_T")

#: Seconds to wait for other writers. Transactions take well under a millisecond, so this is a last resort.
BUSY_SECONDS = 5.0
#: Seconds to leave a file alone that could not be used, so that a full disk does not cost every firing a wait.
RETRY_AFTER = 30.0

#: Pages that the write-ahead log may hold before it is folded into the file. The same few pages are written again
#: and again, so the longer it may grow, the less is written in all.
_LOG_PAGES = 4000
#: Bytes of it that a process may leave behind; the next process to open the file reads them all.
_LEFTOVER = 1 << 19

#: Nobody connects to a file that is just being made.
_MAKING = allocate_lock()
#: Parts of SQLite's messages when the file is damaged, as opposed to a full disk or missing permissions.
_BROKEN = ("not a database", "malformed", "corrupt", "unsupported file format")


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """What a file of ours looks like: its mark, and the statements that lead from each version to the next."""

    application_id: int
    migrations: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Opened:
    connection: sqlite3.Connection
    #: Which file this is, so that one that was deleted or replaced under us is noticed.
    inode: int
    #: What a person should know about opening it; "" when nothing.
    note: str = ""


class _ForeignError(Exception):
    """The file is a healthy database of another program, or no regular file."""


def _open_database(path: str, layout: Schema) -> _Opened:
    """Open ``path``, making it if needed. Raises StateError or sqlite3.Error when the place cannot be used."""
    private_dir(os.path.dirname(path) or ".")
    try:
        return _open(path, layout)
    except (_ForeignError, sqlite3.DatabaseError) as error:
        if isinstance(error, sqlite3.Error) and not _is_broken(error):
            raise
    with lock(path):
        try:
            return _open(path, layout)  # another process may have replaced it while we waited
        except (_ForeignError, sqlite3.DatabaseError) as error:
            if isinstance(error, sqlite3.Error) and not _is_broken(error):
                raise
            aside = _move_aside(path)
            opened = _open(path, layout)
            note = f"{path} could not be used ({error}); it is kept as {aside} and a new one was made"
            return _Opened(connection=opened.connection, inode=opened.inode, note=note)


def _set_aside(path: str, inode: int) -> str:
    """Move a file aside that proved broken while it was used, unless another process has; a note about it."""
    with lock(path):
        if file_inode(path) != inode:
            return ""
        return f"{path} was damaged; it is kept as {_move_aside(path)} and a new one was made"


def _is_broken(error: sqlite3.Error) -> bool:
    """Whether the file itself is damaged, so that only a new one helps."""
    return any(sign in str(error) for sign in _BROKEN)


def _may_stay_open(path: str) -> bool:
    """Whether a process that ends anyway may save itself the closing, which folds the log into the file and waits
    for the disk. SQLite cannot tell it from a killed process; the next one goes on where the log ends."""
    try:
        return os.stat(f"{path}-wal").st_size < _LEFTOVER
    except OSError:
        return False


def file_inode(path: str) -> int:
    """The file now at ``path``; 0 when there is none."""
    try:
        return os.stat(path).st_ino
    except OSError:
        return 0


def _open(path: str, layout: Schema) -> _Opened:
    inode = _private_file(path)
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False)
    try:
        _prepare(connection, layout)
        connection.execute(f"PRAGMA wal_autocheckpoint = {_LOG_PAGES}")
    except BaseException:
        connection.close()
        raise
    return _Opened(connection=connection, inode=inode)


def _private_file(path: str) -> int:
    """SQLite gives its -wal and -shm files the mode of the main one, so this is the only place that sets it.

    A file that is there is not opened here: closing it would release the locks that SQLite holds on it for another
    connection of this process, and the next process to end would remove the log that is written to.
    """
    with _MAKING:
        try:
            status = os.lstat(path)
        except FileNotFoundError:
            status = _try_open(path, os.O_CREAT)
    if not stat.S_ISREG(status.st_mode):
        raise _ForeignError("not a regular file")  # opening a FIFO could hang
    if not os.access(path, os.R_OK | os.W_OK):
        _try_open(path, 0)
    elif status.st_mode & 0o077:
        os.chmod(path, 0o600)
    return status.st_ino


def _try_open(path: str, how: int) -> os.stat_result:
    """Raises UnusableError with the system's reason."""
    try:
        handle = os.open(path, os.O_RDWR | os.O_CLOEXEC | os.O_NOFOLLOW | how, 0o600)
    except OSError as error:
        raise UnusableError(unusable(path, error)) from error
    try:
        return os.fstat(handle)
    finally:
        os.close(handle)


def _prepare(connection: sqlite3.Connection, layout: Schema) -> None:
    version = _scalar(connection, "PRAGMA user_version")
    if version == len(layout.migrations) and _scalar(connection, "PRAGMA application_id") == layout.application_id:
        connection.execute("PRAGMA synchronous = NORMAL")  # a power cut costs the last moments, a kill nothing
        return
    _refuse_foreign(connection, layout)
    connection.execute("PRAGMA auto_vacuum = INCREMENTAL")  # only takes effect before the first table
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = NORMAL")
    with transaction(connection):
        _migrate(connection, layout)


def _refuse_foreign(connection: sqlite3.Connection, layout: Schema) -> None:
    mark = _scalar(connection, "PRAGMA application_id")
    if mark != layout.application_id and (mark or _scalar(connection, "SELECT count(*) FROM sqlite_master")):
        raise _ForeignError("a database of another program")


def _migrate(connection: sqlite3.Connection, layout: Schema) -> None:
    """Runs inside a transaction, so of many processes that find an old file one migrates and the others see it."""
    version = _scalar(connection, "PRAGMA user_version")
    if version > len(layout.migrations):
        raise StateError("the database was written by a newer hookline; update this one, or move the file away")
    for statements in layout.migrations[version:]:
        for statement in statements:
            connection.execute(statement)
    connection.execute(f"PRAGMA application_id = {layout.application_id}")
    connection.execute(f"PRAGMA user_version = {len(layout.migrations)}")


class Database:
    """One connection of a process. It is opened again after a fork, or when its file was replaced; a file that cannot
    be used is left alone for a while.

    ``brief``: the process ends right after, with ``os._exit``.
    """

    def __init__(self, path: str, layout: Schema, *, brief: bool = False) -> None:
        self.path = path
        self.note = ""
        self._layout = layout
        self._brief = brief
        self._lock = RLock()
        self._connection: sqlite3.Connection | None = None
        self._inode = 0
        self._pid = 0
        self._retry_at = 0.0
        self._failing = False

    def close(self) -> None:
        if not (self._brief and _may_stay_open(self.path)):
            self._disconnect()

    def _disconnect(self) -> None:
        with self._lock:
            if self._connection is not None and self._pid == os.getpid():
                self._connection.close()
            self._connection = None

    def _connect(self) -> sqlite3.Connection:
        """Raises StateError and sqlite3.Error."""
        if self._connection is not None and self._pid == os.getpid() and self._inode == file_inode(self.path):
            return self._connection
        self._disconnect()
        opened = _open_database(self.path, self._layout)
        self._connection, self._inode, self._pid = opened.connection, opened.inode, os.getpid()
        self.note = opened.note or ("" if self._failing else self.note)  # the failure is over
        self._failing = False
        self._start_over()
        return opened.connection

    @contextmanager
    def connection(self) -> Generator[sqlite3.Connection]:
        """Raises StateError and sqlite3.Error; a file that proves damaged is moved aside."""
        with self._lock:
            connection = self._connect()
            try:
                yield connection
            except sqlite3.DatabaseError as error:
                self._replace_broken(error)
                raise

    def use(self, work: Callable[[sqlite3.Connection], _T], failed: Callable[[Exception], _T]) -> _T:
        """The result of ``work`` in one transaction; that of ``failed`` where the file cannot be used."""
        with self._lock:
            try:
                connection = self._connect()
                with transaction(connection):
                    return work(connection)
            except (sqlite3.Error, StateError, OSError, UnicodeError) as error:
                return failed(error)

    def _start_over(self) -> None:
        """The file may be another one: what was known of its content is not true any more."""

    def _replace_broken(self, error: Exception) -> bool:
        """A damaged file is moved aside, so that the next attempt makes a new one; whether it was."""
        self._disconnect()
        if isinstance(error, sqlite3.Error) and _is_broken(error):
            with suppress(StateError):
                self.note = _set_aside(self.path, self._inode) or self.note
                return True
        return False

    def _give_up(self, note: str) -> None:
        self.note = note
        self._failing = True
        self._disconnect()
        self._retry_at = time.monotonic() + RETRY_AFTER


class transaction:  # noqa: N801  used as the function that it would be, were that not slower than a whole insert
    """All or nothing, and nobody writes between the reads and the writes in it."""

    __slots__ = ("_connection",)

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        try:
            if kind is None:
                self._connection.execute("COMMIT")
        finally:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")


def _scalar(connection: sqlite3.Connection, statement: str) -> int:
    row = connection.execute(statement).fetchone()
    return int(row[0])


def storable(text: str) -> str:
    """SQLite takes UTF-8 only; a lone surrogate (from a file name, say) is kept in a readable form."""
    return text if text.isascii() else text.encode(errors="backslashreplace").decode()


def _move_aside(path: str) -> str:
    aside = f"{path}.corrupt-{time.strftime('%Y%m%dT%H%M%S')}"
    while os.path.lexists(aside):
        aside += "x"
    try:
        os.rename(path, aside)
        for suffix in ("-wal", "-shm"):
            if os.path.lexists(path + suffix):
                os.rename(path + suffix, aside + suffix)
    except OSError as error:
        raise UnusableError(unusable(path, error)) from error
    return aside
