"""The vectors of the notes in the index, where a sentence model is installed: made, kept, and searched by meaning."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from hookline.memory.notes.sentence_model import NAME, load_model
from hookline.memory.notes.vectors import BITS, likeness, near_pairs, nearest, pack, signs
from hookline.state.database import transaction

if TYPE_CHECKING:
    import sqlite3
    from collections.abc import Iterable, Mapping, Sequence

    from hookline.memory.notes.index import Only

#: Notes that are embedded at once.
_BATCH = 50
#: Notes whose signs are kept in one row: a search reads all of them.
_BLOCK = 1024


class NoteVectors:
    """Those of the notes in this index."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def embed_all(self, seconds: float) -> None:
        """As many as that time allows; the next one goes on."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.embed(_BATCH):
            pass

    def embed(self, most: int) -> int:
        """Make vectors of notes that have none; of how many. Nothing without a model."""
        model = load_model()
        rows = (
            model
            and self._connection.execute(
                "SELECT notes.id, title, body, tags FROM notes JOIN words ON words.rowid = notes.id WHERE model = ?"
                " ORDER BY notes.id DESC LIMIT ?",
                ("", most),
            ).fetchall()
        )
        if not model or not rows:
            return 0
        titles = model.embed([title for _id, title, _body, _tags in rows])
        texts = model.embed([f"{title}. {body[:4000]} {tags}" for _id, title, body, tags in rows])
        with transaction(self._connection):
            for (number, *_), vector in zip(rows, pack(titles + texts), strict=True):
                self.keep(number, vector)
        return len(rows)

    def keep(self, number: int, vector: bytes) -> None:
        self._connection.execute("INSERT OR REPLACE INTO vectors VALUES (?, ?)", (number, vector))
        self._signs(number, signs(vector))
        self._connection.execute("UPDATE notes SET model = ? WHERE id = ?", (NAME, number))

    def _signs(self, number: int, bits: bytes) -> None:
        block, place = divmod(number, _BLOCK)
        row = (block, _BLOCK * len(bits))
        self._connection.execute("INSERT OR IGNORE INTO signs VALUES (?, zeroblob(?))", row)
        with self._connection.blobopen("signs", "bits", block) as blob:
            blob.seek(place * len(bits))
            blob.write(bits)

    def nearest(self, text: str, only: Only, most: int) -> dict[int, float]:
        """The notes nearest in meaning, and how near (at most 1). Empty without a model."""
        model = load_model()
        blocks = model and self._connection.execute("SELECT block * ?, bits FROM signs", (_BLOCK,)).fetchall()
        if not model or not blocks:
            return {}
        row = model.embed([text])[0]
        allowed = None
        if only:
            where, values = only.sql(scoped=True)
            rows = f"SELECT group_concat(id) FROM notes WHERE {where}"  # as one text: a row for each takes ten times as long
            allowed = self._connection.execute(rows, values).fetchone()[0] or "0"
        near = nearest(row, blocks, allowed, most * 4)
        marks = ", ".join("?" * len(near))
        vectors = self._connection.execute(f"SELECT id, vector FROM vectors WHERE id IN ({marks})", near).fetchall()
        cosines = likeness(row, [vector for _id, vector in vectors]) if vectors else []
        found = sorted(zip(cosines, (number for number, _vector in vectors), strict=True), reverse=True)[:most]
        return {number: cosine for cosine, number in found}

    def alike(self, entries: Iterable[str], least: float) -> set[frozenset[str]]:
        """Pairs of entries that are this near in meaning. Empty without a model."""
        wanted = list(entries)
        marks = ", ".join("?" * len(wanted))
        rows = self._connection.execute(
            f"SELECT entry, vector FROM notes JOIN vectors USING (id) WHERE entry IN ({marks})", wanted
        ).fetchall()
        places = near_pairs([vector for _entry, vector in rows], least) if rows else ()
        return {frozenset((rows[one][0], rows[other][0])) for one, other in places}

    def in_file(self, folder: str, name: str) -> Mapping[tuple[str, str, str], bytes]:
        """By title, body and tags, for notes that stay as they are when their file is read again."""
        rows = self._connection.execute(
            "SELECT title, body, tags, vector FROM files JOIN notes ON notes.file = files.id JOIN vectors USING (id)"
            " JOIN words ON words.rowid = notes.id WHERE folder = ? AND name = ?",
            (folder, name),
        )
        return {(title, body, tags): vector for title, body, tags, vector in rows}

    def forget(self, numbers: Sequence[int]) -> None:
        """Before the notes themselves are deleted."""
        self._connection.executemany("DELETE FROM vectors WHERE id = ?", [(number,) for number in numbers])
        for number in numbers:
            if self._connection.execute("SELECT 1 FROM notes WHERE id = ? AND model <> ''", (number,)).fetchone():
                self._signs(number, bytes(BITS))
