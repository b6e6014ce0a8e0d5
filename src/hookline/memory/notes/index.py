"""The index of all notes: a private SQLite file that can be deleted, since it is made from the notes.

A note is read again when its file changed (time, size, inode), and a directory is listed again when it changed: all our
writers replace whole files, which changes the directory. Only a ``thorough`` sync checks every file, and finds those
edited in place.
"""

from __future__ import annotations

import math
import os
import sqlite3
import time
from contextlib import closing, contextmanager, suppress
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.memory.notes.note_files import (
    Folder,
    Note,
    file_signature,
    folders,
    list_notes,
    note_listing,
    session_folder,
)
from hookline.memory.notes.note_vectors import NoteVectors
from hookline.memory.notes.related import concepts
from hookline.memory.notes.words import space_cjk, unspace_cjk
from hookline.state.database import Database, Schema, transaction

if TYPE_CHECKING:
    from collections.abc import Callable, Generator, Iterable, Mapping

    from hookline.memory.layout import Places
    from hookline.memory.notes.note_files import Listed

    Clean = Callable[[str], str]
    Progress = Callable[[int], None]

LAYOUT = Schema(
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
        # What entries are now (agent, status, successor), related words, and vectors. Everything is read again.
        (
            "DROP TABLE notes",
            "DROP TABLE words",
            "DELETE FROM files",
            "DELETE FROM folders",
            """CREATE TABLE notes (
                 id INTEGER PRIMARY KEY, file INTEGER NOT NULL, kind TEXT NOT NULL, project TEXT NOT NULL,
                 session TEXT NOT NULL, date TEXT NOT NULL, scope TEXT NOT NULL, agent TEXT NOT NULL, status TEXT NOT NULL,
                 entry TEXT NOT NULL, successor TEXT NOT NULL, path TEXT NOT NULL, model TEXT NOT NULL DEFAULT '') STRICT""",
            "CREATE INDEX notes_file ON notes (file)",
            "CREATE INDEX notes_session ON notes (session)",
            "CREATE INDEX notes_scope ON notes (scope, kind, status, agent, date)",
            "CREATE INDEX notes_entry ON notes (entry)",
            "CREATE INDEX notes_model ON notes (model)",
            """CREATE VIRTUAL TABLE words USING fts5(
                 title, body, tags, related, scope, tokenize = 'porter unicode61 remove_diacritics 2')""",
            "CREATE TABLE vectors (id INTEGER PRIMARY KEY, vector BLOB NOT NULL) STRICT",
            "CREATE TABLE signs (block INTEGER PRIMARY KEY, bits BLOB NOT NULL) STRICT",
        ),
        # Vectors of another model, which have another length.
        ("DELETE FROM vectors", "DELETE FROM signs", "UPDATE notes SET model = ''"),
    ),
)
FILE = "knowledge-index.db"
_INSERT = (
    "INSERT INTO notes (file, kind, project, session, date, scope, agent, status, entry, successor, path)"
    " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
)
#: Files per transaction, so that other writers get a turn.
_BATCH = 200
#: Seconds that a person or a worker waits for vectors.
_EMBED_SECONDS, _WORKER_SECONDS = 10, 120
#: Seconds in which a directory may change without a new modification time.
_MTIME_RESOLUTION = 2.0
#: Prefix of a path that is not UTF-8; others begin with a slash.
_HEX = "hex:"


@dataclass(frozen=True, slots=True, kw_only=True)
class Only:
    """Which notes a search may find; empty fields allow all. ``scopes``: one of these, ``since``: a day."""

    scopes: tuple[str, ...] = ()
    kinds: tuple[str, ...] = ()
    agent: str = ""
    status: str = ""
    since: str = ""

    def __bool__(self) -> bool:
        return bool(self.scopes or self.kinds or self.agent or self.status or self.since)

    def sql(self, *, scoped: bool = False) -> tuple[str, list[str]]:
        """A condition on ``notes``, and its values. ``scoped``: with the scopes, which a text search has in its query."""
        parts: list[str] = []
        values: list[str] = []
        for column, given in (("kind", self.kinds), ("scope", self.scopes if scoped else ())):
            if given:
                parts.append(f"{column} IN ({', '.join('?' * len(given))})")
                values += given
        for text, value in (("agent = ?", self.agent), ("status = ?", self.status), ("date >= ?", self.since)):
            if value:
                parts.append(text)
                values.append(value)
        return " AND ".join(parts), values


class NoteIndex:
    """Open for one command or one hook. Raises sqlite3.Error and StateError."""

    def __init__(self, connection: sqlite3.Connection, clean: Clean) -> None:
        self._connection, self._clean = connection, clean
        self.vectors = NoteVectors(connection)
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
        if thorough:
            self.vectors.embed_all(_EMBED_SECONDS)
        return self._changed

    def add(self, places: Places, path: str) -> bool:
        """Index one session's note that was just written. The next sync still lists its directory."""
        folder = session_folder(places, path)
        signature = file_signature(path)
        if folder is None or not signature:
            return False
        with transaction(self._connection):
            self._connection.execute("INSERT OR IGNORE INTO folders VALUES (?, '')", (_stored(folder.path),))
            self._file(folder, os.path.basename(path), note_listing(folder, path, signature))
        return True

    def _folder(self, folder: Folder, progress: Progress | None) -> None:
        rows = self._connection.execute("SELECT name, signature FROM files WHERE folder = ?", (_stored(folder.path),))
        known = dict(rows)
        there = list_notes(folder)
        changed = sorted(name for name, now in there.items() if known.get(name) != now.signature)
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

    def _file(self, folder: Folder, name: str, now: Listed) -> None:
        known = self.vectors.in_file(_stored(folder.path), name)
        self._forget_file(folder.path, name)
        file = self._connection.execute(
            "INSERT INTO files (folder, name, signature) VALUES (?, ?, ?)", (_stored(folder.path), name, now.signature)
        ).lastrowid
        for note in now.read():
            self._note(file or 0, note, known)

    def _note(self, file: int, note: Note, known: Mapping[tuple[str, str, str], bytes]) -> None:
        own = map(self._plain, (note.project, note.session, note.date))
        rest = (note.scope, note.agent, note.status, note.entry, note.successor, _stored(note.path))
        number = self._connection.execute(_INSERT, (file, note.kind, *own, *rest)).lastrowid or 0
        title, body, tags = (space_cjk(self._plain(text)) for text in (note.title, note.body, note.tags))
        related = " ".join(concepts(f"{title} {body[:4000]} {tags}"))
        self._connection.execute(
            "INSERT INTO words (rowid, title, body, tags, related, scope) VALUES (?, ?, ?, ?, ?, ?)",
            (number, title, body, tags, related, note.scope),
        )
        if vector := known.get((title, body, tags)):
            self.vectors.keep(number, vector)

    def _plain(self, text: str) -> str:
        """Redacted, also if another program wrote the note; and without lone surrogates."""
        return self._clean(text).encode("utf-8", "replace").decode()

    def rank(self, match: str, only: Only, limit: int, *, after: int = 0) -> dict[int, float]:
        """Numbers of notes and their scores, best first; ``match`` is an FTS5 query. A title counts more than tags, and
        tags more than the body. ``after``: only notes with a higher number."""
        where, values = only.sql()
        more = f"AND rowid IN (SELECT id FROM notes WHERE {where})" if where else ""
        within = f"{{scope}} : ({' OR '.join(only.scopes)}) AND ({match})" if only.scopes else match
        rows = self._connection.execute(
            "SELECT rowid, bm25(words, 4.0, 1.0, 2.0, 1.0, 0.0) AS score FROM words"
            f" WHERE words MATCH ? AND rowid > ? {more} ORDER BY score LIMIT ?",
            (within, after, *values, limit),
        )
        return {number: -score for number, score in rows}

    def related(self, groups: str, only: Only, limit: int) -> list[tuple[int, str]]:
        """Notes with some of the groups of related words, and all of theirs."""
        found = self.rank(f"{{related}} : ({groups})", only, limit)
        marks = ", ".join("?" * len(found))
        return self._connection.execute(
            f"SELECT rowid, related FROM words WHERE rowid IN ({marks})", list(found)
        ).fetchall()

    def notes(self, scores: Mapping[int, float], near: Mapping[int, float] | None = None) -> list[Note]:
        """Best first; equal ones newest first."""
        table = " UNION ALL ".join("SELECT ? AS number, ? AS score" for _ in scores)
        values = [one for number, score in scores.items() for one in (number, -score)]
        return self._rows(table, tuple(values), near or {}) if scores else []

    def entries(self, ids: Iterable[str], *, any_status: bool = False) -> dict[str, int]:
        """Numbers of the notes of entries; only of those that count, unless ``any_status``."""
        wanted = list(ids)
        marks = ", ".join("?" * len(wanted))
        rows = self._connection.execute(
            f"SELECT entry, id FROM notes WHERE entry IN ({marks}) AND (status = 'current' OR ?)", (*wanted, any_status)
        )
        return dict(rows)

    def session_notes(self, session: str) -> list[Note]:
        """All notes of a session, its own note first."""
        chosen = "SELECT id AS number, kind <> 'session' AS score FROM notes WHERE session = ?"
        return self._rows(chosen, (session,), {})

    def _rows(self, chosen: str, values: tuple[object, ...], near: Mapping[int, float]) -> list[Note]:
        """``chosen`` selects ``number`` and ``score``; the lowest score is the best, as in FTS5."""
        rows = self._connection.execute(
            "SELECT number, kind, title, body, project, session, date, folder, name, score, agent, status, entry, successor,"
            f" notes.path FROM ({chosen})"
            " JOIN notes ON notes.id = number JOIN files ON files.id = notes.file JOIN words ON words.rowid = number"
            " ORDER BY score, date DESC",
            values,
        )
        return [
            Note(
                kind=kind, title=unspace_cjk(title), body=unspace_cjk(body), project=project, session=session, date=date,
                path=_restored(path) or os.path.join(_restored(folder), name), score=-score, agent=agent, status=status,
                entry=entry, successor=successor, near=near.get(number, 0.0),
            )
            for number, kind, title, body, project, session, date, folder, name, score, agent, status, entry, successor,
            path in rows
        ]  # fmt: skip

    def count(self, match: str, most: int) -> int:
        """Counting stops above ``most``. Only the index knows the stems."""
        inner = "SELECT 1 FROM words WHERE words MATCH ? LIMIT ?"
        return int(self._connection.execute(f"SELECT count(*) FROM ({inner})", (match, most + 1)).fetchone()[0])

    def rarity(self, match: str, most: int) -> float:
        """As BM25 weighs it, but 0 for what more than ``most`` notes have."""
        having, total = self.count(match, most), self.newest()
        return math.log(1 + max(0.0, total - having + 0.5) / (having + 0.5)) if having <= most else 0.0

    def newest(self) -> int:
        return int(self._connection.execute("SELECT coalesce(max(id), 0) FROM notes").fetchone()[0])

    def counts(self) -> dict[str, int]:
        return dict(self._connection.execute("SELECT kind, count(*) FROM notes GROUP BY kind"))

    def sessions(self) -> set[str]:
        return {session for (session,) in self._connection.execute("SELECT DISTINCT session FROM notes")}

    def session_files(self, session: str) -> list[str]:
        """The files that hold notes of a session."""
        rows = self._connection.execute(
            "SELECT DISTINCT folder, name, notes.path FROM notes JOIN files ON files.id = notes.file WHERE session = ?",
            (session,),
        )
        return list(
            dict.fromkeys(_restored(path) or os.path.join(_restored(folder), name) for folder, name, path in rows)
        )

    def forget(self, session: str) -> int:
        """Remove every note of the session and every trace of it in the file; how many notes."""
        with transaction(self._connection):
            rows = self._connection.execute("SELECT id FROM notes WHERE session = ?", (session,)).fetchall()
            self._forget_notes([number for (number,) in rows])
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
        rows = self._connection.execute("SELECT id FROM notes WHERE file = ?", found).fetchall()
        self._forget_notes([number for (number,) in rows])
        self._connection.execute("DELETE FROM files WHERE id = ?", found)

    def _forget_notes(self, numbers: list[int]) -> None:
        rows = [(number,) for number in numbers]
        self._connection.executemany("DELETE FROM words WHERE rowid = ?", rows)
        self.vectors.forget(numbers)
        self._connection.executemany("DELETE FROM notes WHERE id = ?", rows)


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
                index.vectors.embed_all(_WORKER_SECONDS)
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
