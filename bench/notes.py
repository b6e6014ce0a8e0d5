"""What remembering costs: a start with ten thousand notes, a search in a hundred thousand, a long session as a note."""

from __future__ import annotations

import json
import os
import random
import subprocess
import time
from statistics import median
from typing import TYPE_CHECKING
from unittest.mock import patch

from measure import Row, us

from hookline.core.event import Event, event_kind
from hookline.memory.context import memory_context
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.notes import index as indexing
from hookline.memory.notes import note_vectors
from hookline.memory.notes.note_files import scopes
from hookline.memory.notes.related import concepts, groups
from hookline.memory.notes.search import parse_query, search
from hookline.memory.notes.sentence_model import SIZE, load_model
from hookline.memory.notes.session_export import session_export
from hookline.state.database import transaction
from hookline.transcripts.lines import lines

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from hookline.memory.notes.sentence_model import Floats

MEGABYTE = 1_000_000
#: From words that nearly every note has to words that few have; and a query that is all of them.
QUERIES = (
    "login",
    "word3 word40",
    "word700",
    "cache word60 word800 word9000",
    '"word1 word2"',
    "nothing",
    "why is the login so slow at night",
)


def rows(folder: str, short: bool) -> Iterator[Row]:
    home = os.path.join(folder, "remembering")
    project = os.path.join(home, "project")
    os.makedirs(project)
    environ = {"HOME": home, "PATH": os.environ["PATH"]}
    yield _start(environ, project, notes=200 if short else 10_000)
    yield _search(os.path.join(folder, "searching"), notes=1_000 if short else 100_000)
    yield from _export(environ, project, size=(1 if short else 50) * MEGABYTE)


def _event(name: str, environ: dict[str, str], project: str, **data: str) -> Event:
    return Event(kind=event_kind(name), data=data, session="s", agent="claude-code", cwd=project, environ=environ)


def _start(environ: dict[str, str], project: str, *, notes: int) -> Row:
    """None of them is of this project: the longest way to find that out. The index is as a worker leaves it."""
    sessions = os.path.join(environ["HOME"], ".local/share/hookline/knowledge/sessions")
    text = "---\ntype: claude-session\nproject: another\nmessages: 8\n---\n\n## User\n\nhello\n" + "word " * 500
    for number in range(notes):
        month = f"{2024 + number % 24 // 12}-{number % 12 + 1:02}"
        os.makedirs(os.path.join(sessions, month), exist_ok=True)
        with open(os.path.join(sessions, month, f"{month}-{number % 28 + 1:02}-{number:08x}.md"), "w") as file:
            file.write(text)
    subprocess.run(["git", "init", "-q", "-b", "token-cache", project], check=True, env=environ)
    desk = memory_context(project, environ)
    indexing.update_index(desk.places, desk.clean)
    event = _event("SessionStart", environ, project)
    taken = []
    for _ in range(5):
        began = time.perf_counter()
        context_inject(event)
        taken.append(time.perf_counter() - began)
    each = median(taken)
    return Row(what=f"context-inject with {notes:,} notes", shown=us(each), value=each * 1e3, unit="ms", target=150)


def _search(home: str, *, notes: int) -> Row:
    """The slowest of the queries, in one project that has a fifth of all notes, and in all of them."""
    project = os.path.join(home, "project")
    os.makedirs(project)
    desk = memory_context(project, {"HOME": home})
    own = scopes(desk.project, project)
    slowest = 0.0
    with indexing.open_index(desk.places, str) as index:
        _fill(index, notes, own[0])
        for text in QUERIES:
            for within in (own, ()):
                taken = []
                for _ in range(3 if notes < 10_000 else 9):
                    began = time.perf_counter()
                    search(index, parse_query(text), scopes=within)
                    taken.append(time.perf_counter() - began)
                slowest = max(slowest, median(taken))
    return Row(what=f"search in {notes:,} notes", shown=us(slowest), value=slowest * 1e3, unit="ms", target=60)


def _fill(index: indexing.NoteIndex, notes: int, scope: str) -> None:
    """Words as rare as in a language: the second half as often as the first."""
    chance = random.Random(7)
    common = [word for group in groups() for word in group.split()]
    vocabulary = [*common[::3], *(f"word{number}" for number in range(20_000 - len(common[::3])))]
    pool = chance.choices(vocabulary, [1 / number for number in range(1, 20_001)], k=notes * 20)
    connection = index._connection  # noqa: SLF001  a hundred thousand files would take a minute to write
    with transaction(connection):
        connection.execute("INSERT INTO files (id, folder, name, signature) VALUES (1, 'f', 'n', 's')")
        names = "id, file, kind, project, session, date, scope, agent, status, entry, successor, path"
        own = {number: scope if number % 5 == 0 else f"f{number % 5}" for number in range(1, notes + 1)}
        rows = ((number, where) for number, where in own.items())
        given = "?, 1, 'decision', 'p', 's', '2026-01-01', ?, '', 'current', '', '', ''"
        connection.executemany(f"INSERT INTO notes ({names}) VALUES ({given})", rows)
        texts = (
            (number, " ".join(words[:5]), " ".join(words[5:]), " ".join(concepts(" ".join(words))), where)
            for number, where in own.items()
            if (words := pool[number * 20 - 20 : number * 20])
        )
        into = "INSERT INTO words (rowid, title, body, tags, related, scope) VALUES (?, ?, ?, '', ?, ?)"
        connection.executemany(into, texts)
    with patch.object(note_vectors, "load_model", RandomModel if load_model() else lambda: None):
        while index.vectors.embed(2000):
            pass


class RandomModel:
    """In place of the real one, which would take an hour for a hundred thousand notes; questions are asked of the real one."""

    def embed(self, texts: Sequence[str]) -> Floats:
        import numpy as np

        chance = np.random.default_rng(len(texts))
        return chance.normal(size=(len(texts), SIZE)).astype(np.float32)


def _export(environ: dict[str, str], project: str, *, size: int) -> Iterator[Row]:
    path = os.path.join(environ["HOME"], "long.jsonl")
    _write_transcript(path, project, size)
    began = time.process_time()
    for line in lines(path):
        json.loads(line.text)
    plain = time.process_time() - began
    began = time.process_time()
    session_export(_event("Stop", environ, project, transcript_path=path))
    exported = time.process_time() - began
    what = f"session-export of {size // MEGABYTE} MB"
    yield Row(what=what, shown=us(exported), value=exported, unit="s", target=2)
    yield Row(
        what=f"{what} / parsing its JSON", shown=f"{us(exported)} / {us(plain)}", value=exported / plain, target=6
    )


def _write_transcript(path: str, project: str, size: int) -> None:
    """A third is talk, the rest is what tools were given and gave back."""
    common = {"sessionId": "long", "cwd": project, "version": "2.1.0", "timestamp": "2026-04-12T18:30:00Z"}
    edit = {"type": "tool_use", "id": "t", "name": "Edit", "input": {"file_path": "/a.py", "new_string": "y" * 1000}}
    answer = {"type": "text", "text": "I did the thing " + "lorem ipsum " * 60}
    result = {"type": "tool_result", "tool_use_id": "t", "content": "line of output\n" * 120}
    turn = "".join(
        json.dumps({"type": role, **common, "message": {"role": role, "content": content}}) + "\n"
        for role, content in (("user", "please " * 50), ("assistant", [answer, edit]), ("user", [result]))
    )
    with open(path, "w", encoding="utf-8") as file:
        file.write(json.dumps({"type": "permission-mode", "permissionMode": "default", "sessionId": "long"}) + "\n")
        file.writelines(turn for _ in range(size // len(turn)))
