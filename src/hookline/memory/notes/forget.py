"""Forgetting a session: everything of it that we have written, wherever it lies, is gone afterwards.

The agent's own transcript is the agent's, and stays. While we forget, no worker is at the session: it would write it
down again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.core.files import open_locked, read_text, sweep
from hookline.memory import own_chats
from hookline.memory.distill import write_results
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, LAST_SESSION, PRE_COMPACT_SUMMARY
from hookline.memory.notes import backup, entries, summary
from hookline.memory.notes.handoff import parse_front_matter
from hookline.memory.queue import dead_letter
from hookline.memory.queue.queue import CLAIMED, Queue
from hookline.memory.queue.task import parse_task, short_id
from hookline.memory.queue.worker_lock import WorkerLock
from hookline.memory.transcript import detect_agent
from hookline.state.database import transaction
from hookline.transcripts import about

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from hookline.memory.layout import Places
    from hookline.memory.notes.index import NoteIndex
    from hookline.state.record.store import Store

#: Files with a row for each session, which may hold its last prompt; the last statement is the one that counts.
_STATES: Mapping[str, tuple[str, ...]] = {
    "sessions.db": (
        "DELETE FROM generations WHERE number IN (SELECT number FROM sessions WHERE session = ?)",
        "DELETE FROM claims WHERE number IN (SELECT number FROM sessions WHERE session = ?)",
        "DELETE FROM sessions WHERE session = ?",
    ),
    "open-sessions.db": ("DELETE FROM open_sessions WHERE session = ?",),
}
#: Characters of a text below which it says nothing that could be told from anything else.
_SAYS = 12
#: Seconds that writing a file takes at most, nearly always.
_WRITING = 2.0
_BUSY = "a worker is distilling this session at this moment; try again when it has finished: hookline status queue"


def list_sessions(places: Places, index: NoteIndex, store: Store | None) -> set[str]:
    """Every session of which anything is kept. The index must be current."""
    found = index.sessions() | {session for _path, session in _tasks(places)}
    found |= {letter.task.session_id for letter in dead_letter.letters(places.dead)}
    found |= {session for _path, session in (*_in_memory(places), *backup.backups(places.compact_backups))}
    found |= {session for _path, session in own_chats.chat_transcripts(places.chats)}
    found |= store.sessions() if store is not None else set()
    return found - {""}


def forget_session(places: Places, session: str, index: NoteIndex, store: Store | None) -> dict[str, int]:
    """What was removed, and how many of each. Raises OSError, StateError and sqlite3.Error; it can be done again."""
    names = sorted(_also_called(places, session))
    total = {"tasks": _untasked(places, names)}
    for name in names:
        for what, count in _forgotten(places, name, index, store).items():
            total[what] = total.get(what, 0) + count
    _unfinished(places)
    index.sync(places)
    return {name: count for name, count in total.items() if count}


def _untasked(places: Places, names: Sequence[str]) -> int:
    """Nobody works on the session, and nobody will: what waits is taken away first, then it is asked who is at it.

    A worker that holds its lock for other sessions, or while it waits for a next try, does not matter.
    """
    waited = _unlinked(path for path, whom in _tasks(places) if whom in names and os.path.dirname(path) == places.queue)
    claims = list(_claims(places, names))
    if not claims:
        _unlinked(_plans(places, names))
        return waited
    with WorkerLock(places.worker_lock) as held:
        if not held:
            raise StateError(_BUSY)
        left = _unlinked(
            path for path, whom in _tasks(places) if whom in names and os.path.dirname(path) == places.queue
        )
        taken = _unlinked(iter(claims))
        _unlinked(_plans(places, names))
        return waited + left + taken


def _forgotten(places: Places, session: str, index: NoteIndex, store: Store | None) -> dict[str, int]:
    said = _told_later(places, session, index)
    gone = {
        "decisions and failures": sum(_entries(places, session)),
        "notes": _unlinked(path for path in index.session_files(session) if _is_note(places, path)),
        "memory files": _unlinked(path for path, whom in _in_memory(places) if whom == session),
        "backups": backup.forget_backups(places.compact_backups, session),
        "lines of logs": sum(_log(path, session) for path in (places.hooks_log, places.worker_log)),
        "recorded events": store.forget(session) if store is not None else 0,
        "told to later sessions": store.unsay(said) if store is not None else 0,
        "chats": _chats(places, session, said),
        "states": sum(_state(os.path.join(places.state, file), sql, session) for file, sql in _STATES.items()),
        # Last: they know what else the session is called, should this have to be done again.
        "tasks": Queue(places.queue).forget(session),
        "dead letters": _unlinked(
            os.path.join(places.dead, one.name)
            for one in dead_letter.letters(places.dead)
            if one.task.session_id == session
        ),
    }
    index.forget(session)
    return gone


def _told_later(places: Places, session: str, index: NoteIndex) -> list[str]:
    """What a later session may have been told of it: the record holds what it was told."""
    rows = index.session_notes(session)
    texts = [row.title.removesuffix("...") for row in rows]
    texts += [line for row in rows if row.kind in {"decision", "failure"} for line in row.body.split("\n")]
    for path, whom in _in_memory(places):
        if whom == session:
            body = (read_text(path, 1 << 20) or "").splitlines()
            texts += [line.lstrip("->").strip() for line in body if line.startswith(("- ", "> "))]
    return [text for text in dict.fromkeys(texts) if len(text) >= _SAYS]


# ── where it may be ──────────────────────────────────────────────────────────────────────────────────


def _memories(places: Places) -> Iterator[str]:
    memory = os.path.join(places.root, "memory")
    with suppress(OSError):
        yield from (os.path.join(memory, name) for name in sorted(os.listdir(memory)))


def _entries(places: Places, session: str) -> Iterator[int]:
    for folder in _memories(places):
        for name in (DECISIONS, FAILURES):
            yield entries.forget(os.path.join(folder, name), session)


def _in_memory(places: Places) -> Iterator[tuple[str, str]]:
    """Files of a project's memory that are of one session as a whole."""
    for folder in _memories(places):
        path = os.path.join(folder, HANDOFF)
        if text := read_text(path, 1 << 20):
            yield path, parse_front_matter(text).get("session_id", "")
        path = os.path.join(folder, LAST_SESSION)
        with suppress(ValueError, AttributeError, RecursionError):
            yield path, str(json.loads(read_text(path, 1 << 16) or "").get("session", ""))
        path = os.path.join(folder, PRE_COMPACT_SUMMARY)
        yield path, summary.summary_session((read_text(path, 1 << 20) or "").partition("\n")[0])


def _chats(places: Places, session: str, said: Sequence[str]) -> int:
    """The transcript and what was typed; and what later chats were told. Only for our own chat: see ``own_chats``."""
    gone = 0
    for path, whom in list(own_chats.chat_transcripts(places.chats)):
        if whom == session:
            own_chats.remove_from_history(os.path.join(places.state, own_chats.HISTORY), own_chats.user_messages(path))
            gone += _unlinked(iter([path]))
        else:
            own_chats.mask_quotes(path, said)
    return gone


def _unfinished(places: Places) -> None:
    """What somebody who was killed had begun to write may be of anybody. Whoever writes now has only just begun."""
    for folder in (*_memories(places), places.compact_backups, places.queue, places.done, places.dead):
        sweep(folder, older=_WRITING)
    sweep(os.path.join(places.queue, CLAIMED), older=_WRITING)
    for home in (places.sessions, places.learnings, os.path.join(places.root, "insights")):
        with suppress(OSError):
            for month in os.listdir(home):
                sweep(os.path.join(home, month), older=_WRITING)


def _tasks(places: Places) -> Iterator[tuple[str, str]]:
    for folder in (places.queue, places.done, os.path.join(places.queue, CLAIMED)):
        with suppress(OSError):
            for name in os.listdir(folder):
                path = os.path.join(folder, name)
                if ".task" in name and not name.endswith(".plan"):
                    yield path, parse_task(read_text(path, 1 << 20, errors="surrogateescape") or "").session_id


def _also_called(places: Places, session: str) -> set[str]:
    """An agent may call a session one thing and its transcript another: a task knows both."""
    files = {path for path, _session in _tasks(places)}
    files |= {os.path.join(places.dead, one.name) for one in dead_letter.letters(places.dead)}
    names = {session}
    for file in files:
        task = parse_task(read_text(file, 1 << 20, errors="surrogateescape") or "")
        path = task.session_jsonl
        known = about(path, detect_agent(path, task.agent)).session if os.path.isfile(path) else ""
        if known and session in {known, task.session_id}:
            names |= {known, task.session_id} - {""}
    return names


def _claims(places: Places, names: Sequence[str]) -> Iterator[str]:
    """What is being worked on, or was by a worker that is gone."""
    claimed = os.path.join(places.queue, CLAIMED)
    for path, whom in list(_tasks(places)):
        if whom in names and os.path.dirname(path) == claimed:
            yield path


def _plans(places: Places, names: Sequence[str]) -> Iterator[str]:
    """Answers that could not be carried out yet, which lie here while their tasks wait. One that nobody can read is of
    no use, and may be of anybody."""
    claimed = os.path.join(places.queue, CLAIMED)
    with suppress(OSError):
        for name in os.listdir(claimed):
            path = os.path.join(claimed, name)
            if name.endswith(".plan") and ((plan := write_results.load_plan(path)) is None or plan.session in names):
                yield path


def _is_note(places: Places, path: str) -> bool:
    homes = (places.sessions, places.learnings, os.path.join(places.root, "insights"))
    return path.endswith(".md") and any(path.startswith(home.rstrip("/") + "/") for home in homes)


# ── how it goes ──────────────────────────────────────────────────────────────────────────────────────


def _unlinked(paths: Iterator[str]) -> int:
    gone = 0
    for path in list(paths):
        with suppress(FileNotFoundError):
            os.unlink(path)
            gone += 1
    return gone


def _log(path: str, session: str) -> int:
    """Lines that name it go: some of them say what a model answered."""
    signs = [sign.encode() for sign in (session, f"-{short_id(session)}.task", f"-{short_id(session)}.md")]
    with suppress(OSError):
        handle = open_locked(path, os.O_RDWR | os.O_APPEND, wait=True)
        assert handle is not None, "it was waited for"
        with open(handle, "r+b") as log:
            lines = log.read().splitlines(keepends=True)
            kept = [line for line in lines if not any(sign in line for sign in signs)]
            if len(kept) < len(lines):
                log.truncate(0)
                log.write(b"".join(kept))
            return len(lines) - len(kept)
    return 0


def _state(path: str, statements: tuple[str, ...], session: str) -> int:
    """Without a layout: a file that is not as we know it has no rows of ours. Raises sqlite3.Error."""
    if not os.path.isfile(path):
        return 0
    connection = sqlite3.connect(path, timeout=5.0, isolation_level=None)
    try:
        connection.execute("PRAGMA secure_delete = ON")
        with transaction(connection):
            gone = [connection.execute(statement, (session,)).rowcount for statement in statements]
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        return gone[-1]
    except sqlite3.OperationalError as error:
        if "no such table" in str(error):
            return 0
        raise
    finally:
        connection.close()
