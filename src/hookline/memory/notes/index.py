"""The index of all notes: a private SQLite file that can be deleted, since it is made from the notes.

A note is read again when its file changed (time, size, inode), and a directory is listed again when it changed: all our
writers replace whole files, which changes the directory. Only a ``thorough`` sync checks every file, and finds those
edited in place.
"""

from __future__ import annotations

import os
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.memory.notes.note_files import Folder, file_signature, folders, read_notes, session_folder, stat_signature
from hookline.memory.notes.search import space_cjk, unspace_cjk
from hookline.state.database import Database, Layout, transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterator

    from hookline.memory.layout import Places
    from hookline.memory.notes.note_files import ParsedNote

    Clean = Callable[[str], str]
    Progress = Callable[[int], None]

LAYOUT = Layout(
    application_id=0x484B4E31,
    migrations=(
        (
            "CREATE TABLE folders (path TEXT PRIMARY KEY, signature TEXT NOT NULL) STRICT, WITHOUT ROWID",
            """CREATE TABLE files (
                 id INTEGER PRIMARY KEY, folder TEXT NOT NULL, name TEXT NOT NULL, signature TEXT NOT NULL,
                 UNIQUE (folder, name)) STRICT""",
            """CREATE TABLE notes (
                 id INTEGER PRIMARY KEY, file INTEGER NOT NULL, kind TEXT NOT NULL, project TEXT NOT NULL,
                 session TEXT NOT NULL, date TEXT NOT NULL) STRICT""",
            "CREATE INDEX notes_file ON notes (file)",
            "CREATE INDEX notes_session ON notes (session)",
            """CREATE VIRTUAL TABLE words USING fts5(
                 title, body, tags, scope, tokenize = 'porter unicode61 remove_diacritics 2')""",
        ),
    ),
)
FILE = "knowledge-index.db"
#: Files per transaction, so that other writers get a turn.
_BATCH = 200
#: Seconds in which a directory may change without a new modification time.
_MTIME_RESOLUTION = 2.0
#: Prefix of a path that is not UTF-8; others begin with a slash.
_HEX = "hex:"


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexedNote:
    """A note in a search result; a higher score is better."""

    kind: str
    title: str
    body: str
    project: str
    session: str
    date: str
    path: str
    score: float


class NoteIndex:
    """Open for one command or one hook. Raises sqlite3.Error and StateError."""

    def __init__(self, connection: sqlite3.Connection, clean: Clean) -> None:
        self._connection, self._clean = connection, clean
        self._changed = 0

    def sync(self, places: Places, *, thorough: bool = False, progress: Progress | None = None) -> int:
        """Index the changed files; how many."""
        self._changed = 0
        rows = self._connection.execute("SELECT path, signature FROM folders")
        known = {_restored(path): signature for path, signature in rows}
        seen: set[str] = set()
        for folder in folders(places, known):
            seen.add(folder.path)
            if thorough or known.get(folder.path) != folder.signature:
                self._folder(folder, progress)
        for gone in known.keys() - seen:
            self._forget_folder(gone)
        return self._changed

    def add(self, places: Places, path: str) -> bool:
        """Index one session's note that was just written. The next sync still lists its directory."""
        folder = session_folder(places, path)
        signature = file_signature(path)
        if folder is None or not signature:
            return False
        with transaction(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO folders VALUES (?, '')", (_stored(folder.path),))
            self._file(folder, os.path.basename(path), signature)
        return True

    def _folder(self, folder: Folder, progress: Progress | None) -> None:
        rows = self._connection.execute("SELECT name, signature FROM files WHERE folder = ?", (_stored(folder.path),))
        known = dict(rows)
        there = dict(_files(folder))
        changed = sorted(name for name, now in there.items() if known.get(name) != now)
        for start in range(0, len(changed), _BATCH):
            with transaction(self._connection):
                for name in changed[start : start + _BATCH]:
                    self._file(folder, name, there[name])
            self._changed += len(changed[start : start + _BATCH])
            if progress is not None:
                progress(self._changed)
        with transaction(self._connection):
            for name in known.keys() - there.keys():
                self._forget_file(folder.path, name)
                self._changed += 1
            settled = abs(time.time() - int(folder.signature.partition(" ")[0]) / 1e9) > _MTIME_RESOLUTION
            row = (_stored(folder.path), folder.signature if settled else "")
            self._connection.execute("INSERT OR REPLACE INTO folders VALUES (?, ?)", row)

    def _file(self, folder: Folder, name: str, signature: str) -> None:
        self._forget_file(folder.path, name)
        file = self._connection.execute(
            "INSERT INTO files (folder, name, signature) VALUES (?, ?, ?)", (_stored(folder.path), name, signature)
        ).lastrowid
        for note in read_notes(folder, os.path.join(folder.path, name)):
            self._note(file or 0, note)

    def _note(self, file: int, note: ParsedNote) -> None:
        row = (file, note.kind, *map(self._plain, (note.project, note.session, note.date)))
        number = self._connection.execute(
            "INSERT INTO notes (file, kind, project, session, date) VALUES (?, ?, ?, ?, ?)", row
        ).lastrowid
        texts = (space_cjk(self._plain(text)) for text in (note.title, note.body, note.tags))
        self._connection.execute(
            "INSERT INTO words (rowid, title, body, tags, scope) VALUES (?, ?, ?, ?, ?)", (number, *texts, note.scope)
        )

    def _plain(self, text: str) -> str:
        """Redacted, also if another program wrote the note; and without lone surrogates."""
        return self._clean(text).encode("utf-8", "replace").decode()

    def find(self, match: str, limit: int, kinds: tuple[str, ...] = (), since: int = 0) -> list[IndexedNote]:
        """Best first; ``match`` is an FTS5 query. A title counts more than tags, and tags more than the body."""
        marks = ", ".join("?" * len(kinds))
        only = f"AND rowid IN (SELECT id FROM notes WHERE kind IN ({marks}))" if kinds else ""
        # Texts are only fetched for the results, not for all ranked rows.
        ranked = (
            "SELECT rowid AS number, bm25(words, 4.0, 1.0, 2.0, 0.0) AS score FROM words"
            f" WHERE words MATCH ? AND rowid > ? {only} ORDER BY score LIMIT ?"
        )
        return self._rows(ranked, (match, since, *kinds, limit))

    def session_notes(self, session: str) -> list[IndexedNote]:
        """All notes of a session, its own note first."""
        chosen = "SELECT id AS number, kind <> 'session' AS score FROM notes WHERE session = ?"
        return self._rows(chosen, (session,))

    def _rows(self, chosen: str, values: tuple[object, ...]) -> list[IndexedNote]:
        """``chosen`` selects ``number`` and ``score``; the lowest score is the best, as in FTS5."""
        rows = self._connection.execute(
            f"SELECT kind, title, body, project, session, date, folder, name, score FROM ({chosen})"
            " JOIN notes ON notes.id = number JOIN files ON files.id = notes.file JOIN words ON words.rowid = number"
            " ORDER BY score, date DESC",
            values,
        )
        return [
            IndexedNote(
                kind=kind, title=unspace_cjk(title), body=unspace_cjk(body), project=project, session=session, date=date,
                path=os.path.join(_restored(folder), name), score=-score,
            )
            for kind, title, body, project, session, date, folder, name, score in rows
        ]  # fmt: skip

    def matches_more_than(self, most: int, match: str) -> bool:
        """Counting stops there. Only the index knows the stems."""
        inner = "SELECT 1 FROM words WHERE words MATCH ? LIMIT ?"
        row = self._connection.execute(f"SELECT count(*) FROM ({inner})", (match, most + 1)).fetchone()
        return int(row[0]) > most

    def newest(self) -> int:
        return int(self._connection.execute("SELECT coalesce(max(id), 0) FROM notes").fetchone()[0])

    def counts(self) -> dict[str, int]:
        return dict(self._connection.execute("SELECT kind, count(*) FROM notes GROUP BY kind"))

    def sessions(self) -> set[str]:
        return {session for (session,) in self._connection.execute("SELECT DISTINCT session FROM notes")}

    def session_files(self, session: str) -> list[str]:
        """The files that hold notes of a session."""
        rows = self._connection.execute(
            "SELECT DISTINCT folder, name FROM notes JOIN files ON files.id = notes.file WHERE session = ?", (session,)
        )
        return [os.path.join(_restored(folder), name) for folder, name in rows]

    def forget(self, session: str) -> int:
        """Remove every note of the session and every trace of it in the file; how many notes."""
        with transaction(self._connection):
            rows = self._connection.execute("SELECT id FROM notes WHERE session = ?", (session,)).fetchall()
            self._connection.executemany("DELETE FROM words WHERE rowid = ?", rows)
            self._connection.executemany("DELETE FROM notes WHERE id = ?", rows)
        self.purge_deleted()
        return len(rows)

    def purge_deleted(self) -> None:
        """Remove deleted text from the disk too: FTS5 keeps words of deleted rows until it merges."""
        self._connection.execute("INSERT INTO words(words) VALUES ('optimize')")
        self._connection.execute("VACUUM")
        with suppress(sqlite3.OperationalError):  # a reader is active; the next call does it
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def _forget_folder(self, folder: str) -> None:
        with transaction(self._connection):
            names = self._connection.execute("SELECT name FROM files WHERE folder = ?", (_stored(folder),)).fetchall()
            for (name,) in names:
                self._forget_file(folder, name)
            self._connection.execute("DELETE FROM folders WHERE path = ?", (_stored(folder),))
        self._changed += len(names)

    def _forget_file(self, folder: str, name: str) -> None:
        found = self._connection.execute(
            "SELECT id FROM files WHERE folder = ? AND name = ?", (_stored(folder), name)
        ).fetchone()
        if found is None:
            return
        self._connection.execute("DELETE FROM words WHERE rowid IN (SELECT id FROM notes WHERE file = ?)", found)
        self._connection.execute("DELETE FROM notes WHERE file = ?", found)
        self._connection.execute("DELETE FROM files WHERE id = ?", found)


@contextmanager
def open_index(places: Places, clean: Clean) -> Generator[NoteIndex]:
    """Create the index if there is none; set a broken one aside. Raises sqlite3.Error."""
    database = Database(os.path.join(places.state, FILE), LAYOUT)
    with closing(database), database.connection() as connection:
        connection.execute("PRAGMA secure_delete = ON")
        yield NoteIndex(connection, clean)


def update_index(places: Places, clean: Clean, path: str = "") -> str:
    """Index one session's note, or all that changed; the error, or "". Writing notes does not fail because of it."""
    try:
        with open_index(places, clean) as index:
            if path:
                index.add(places, path)
            else:
                index.sync(places, thorough=True)
    except (sqlite3.Error, StateError, OSError) as error:
        return f"the index could not be written: {error}"
    return ""


def index_exists(places: Places) -> bool:
    return os.path.exists(os.path.join(places.state, FILE))


def _stored(path: str) -> str:
    """SQLite only stores UTF-8, and a directory can have any name."""
    try:
        path.encode()
    except UnicodeEncodeError:
        return f"{_HEX}{os.fsencode(path).hex()}"
    return path


def _restored(path: str) -> str:
    return os.fsdecode(bytes.fromhex(path.removeprefix(_HEX))) if path.startswith(_HEX) else path


def _files(folder: Folder) -> Iterator[tuple[str, str]]:
    with suppress(OSError), os.scandir(folder.path) as entries:
        for entry in entries:
            if folder.holds(entry.name) and entry.name.isprintable():
                with suppress(OSError):
                    if entry.is_file():
                        yield entry.name, stat_signature(entry.stat())
