"""Sessions in a database, which the agent may be writing to."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import closing
from typing import Any
from urllib.parse import quote

from hookline.transcripts.message import About, TranscriptMessage, count, moment, words
from hookline.transcripts.paths import Homes, SessionFile
from hookline.transcripts.reader import TranscriptReader


class DatabaseReader(TranscriptReader):
    """One database of all sessions, ``place``. A session in it is named ``<database>#<session>``; the database alone
    names the session that was used last."""

    #: The session that was used last; session and time of change of those of a directory, without those of subagents,
    #: which are part of another; what ``About`` has of a session; place and content of its messages after a place.
    last = listed = described = recorded = ""

    @classmethod
    def owns(cls, path: str) -> bool:
        return os.path.basename(path.partition("#")[0]) == os.path.basename(cls.place)

    @classmethod
    def locate(cls, data: Mapping[str, Any], home: str, environ: Mapping[str, str]) -> str:
        session = cls.session_name(data)
        return f"{cls._database(Homes(home=home, environ=environ))}#{session}" if session else ""

    @classmethod
    def sessions(cls, directories: tuple[str, ...], homes: Homes) -> Iterator[SessionFile]:
        database = cls._database(homes)
        for directory in directories:
            for session, changed in _query(database, cls.listed, directory):
                yield SessionFile(modified=float(changed or 0), agent=cls.agent, path=f"{database}#{session}")

    @classmethod
    def _database(cls, homes: Homes) -> str:
        return os.path.join(cls.directory(homes), cls.place)

    def tail(self, path: str, size: int) -> Iterator[tuple[int, TranscriptMessage]]:
        return self.read(path, 0)

    def read(self, path: str, start: int) -> Iterator[tuple[int, TranscriptMessage]]:
        database, session = self._session(path)
        for place, *row in _query(database, self.recorded, session, start):
            for message in self.row_messages(row):
                yield count(place), message

    def row_messages(self, row: list[Any]) -> Iterator[TranscriptMessage]:
        raise NotImplementedError

    def about(self, path: str) -> About:
        for session, cwd, version, branch, started in _query(
            self._session(path)[0], self.described, self._session(path)[1]
        ):
            return About(
                agent=self.agent, session=words(session), cwd=words(cwd), version=words(version), branch=words(branch),
                started=moment(started),
            )  # fmt: skip
        return About(agent=self.agent)

    def _session(self, path: str) -> tuple[str, str]:
        database, _, session = path.partition("#")
        return database, session or next((words(row[0]) for row in _query(database, self.last)), "")


def _query(database: str, text: str, *values: Any) -> Iterator[tuple[Any, ...]]:
    """The rows, as far as they can be read. Never raises, and never makes a file."""
    import sqlite3  # few agents keep their sessions in one

    file = os.path.abspath(database)
    try:
        with closing(sqlite3.connect(f"file:{quote(file)}?mode=ro", uri=True, timeout=1.0)) as at:
            yield from at.execute(text, values)
    except sqlite3.Error:
        return
