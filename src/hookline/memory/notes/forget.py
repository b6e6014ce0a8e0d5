"""Forgetting a session: remove everything that we wrote about it, wherever it is.

The agent's own transcript belongs to the agent and stays. No worker may be at the session meanwhile: it would write
everything again.
"""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress

from hookline.core.errors import StateError
from hookline.core.files import list_names, open_locked, read_text, replace_atomically, sweep
from hookline.memory.distill import write_results
from hookline.memory.journal.files import all_journals, forget, read_folder
from hookline.memory.journal.model import fold
from hookline.memory.journal.views import FOLDERS, write_handoff
from hookline.memory.layout import DECISIONS, FAILURES, HANDOFF, LAST_SESSION, PRE_COMPACT_SUMMARY, Places
from hookline.memory.notes import backup, entries
from hookline.memory.notes.backup import summary_session
from hookline.memory.notes.front_matter import split_front_matter
from hookline.memory.notes.index import NoteIndex
from hookline.memory.queue.launch import WorkerLock
from hookline.memory.queue.queue import CLAIMED, read_task
from hookline.memory.queue.task import DistillTask, short_id
from hookline.memory.transcript import detect_agent
from hookline.state.database import transaction
from hookline.state.record.store import Store
from hookline.transcripts import about, read

#: Databases with a row per session, which may contain its last prompt. The last statement's rows are counted.
_DATABASES: Mapping[str, tuple[str, ...]] = {
    "sessions.db": (
        "DELETE FROM generations WHERE number IN (SELECT number FROM sessions WHERE session = ?)",
        "DELETE FROM claims WHERE number IN (SELECT number FROM sessions WHERE session = ?)",
        "DELETE FROM sessions WHERE session = ?",
    ),
    "open-sessions.db": ("DELETE FROM open_sessions WHERE session = ?",),
}
#: A shorter text could be anybody's.
_MIN_QUOTE = 12
#: Seconds after which a temporary file is abandoned: writing one takes less.
_WRITE_TIME = 2.0
_BUSY = "a worker is distilling this session right now; try again when it has finished: hookline status queue"


def list_sessions(places: Places, index: NoteIndex, store: Store | None) -> set[str]:
    """Every session with anything stored. The index must be current."""
    found = index.sessions() | {task.session_id for _path, task in _tasks(places)}
    found |= {session for _path, session in (*_memory_files(places), *backup.backups(places.compact_backups))}
    found |= {session for _path, session in _chat_transcripts(places.chats)}
    found |= store.sessions() if store is not None else set()
    return found - {""}


def forget_session(places: Places, session: str, index: NoteIndex, store: Store | None) -> dict[str, int]:
    """What was removed, and how many of each. Raises OSError, StateError and sqlite3.Error; it can be repeated."""
    names = sorted(_all_names(places, session))
    total = {"tasks": _remove_open_tasks(places, names)}
    for name in names:
        for what, count in _forget_name(places, name, index, store).items():
            total[what] = total.get(what, 0) + count
    _remove_temporary_files(places)
    index.sync(places)
    return {name: count for name, count in total.items() if count}


def _remove_open_tasks(places: Places, names: Sequence[str]) -> int:
    """Remove what waits first, then look for claims: afterwards no worker is at the session, and none will be.

    A worker that holds its lock for another session, or while it waits for a retry, does not matter.
    """
    removed = _unlink(_session_tasks(places, names, places.queue))
    claims = list(_session_tasks(places, names, os.path.join(places.queue, CLAIMED)))
    if claims:
        with WorkerLock(places.worker_lock) as held:
            if not held:
                raise StateError(_BUSY)
            removed += _unlink(_session_tasks(places, names, places.queue)) + _unlink(claims)
    _unlink(_plans(places, names))
    return removed


def _forget_name(places: Places, session: str, index: NoteIndex, store: Store | None) -> dict[str, int]:
    quotes = _quotes(places, session, index)
    gone = {
        "decisions and failures": sum(
            entries.forget(os.path.join(folder, name), session)
            for folder in _memories(places)
            for name in (DECISIONS, FAILURES)
        ),
        "changes": sum(_forget_changes(places, project, folder, session) for project, folder in all_journals(places)),
        "notes": _unlink(path for path in index.session_files(session) if _is_note(places, path)),
        "memory files": _unlink(path for path, owner in _memory_files(places) if owner == session),
        "backups": backup.forget_backups(places.compact_backups, session),
        "lines of logs": sum(_forget_log_lines(path, session) for path in (places.hooks_log, places.worker_log)),
        "recorded events": store.forget(session) if store is not None else 0,
        "told to later sessions": store.remove_context(quotes) if store is not None else 0,
        "chats": _forget_chats(places, session, quotes),
        "states": sum(_forget_rows(os.path.join(places.state, file), sql, session) for file, sql in _DATABASES.items()),
        # Last: tasks know the session's other names, in case this must be repeated.
        "tasks": _unlink(_session_tasks(places, [session], places.queue, places.done)),
        "dead letters": _unlink(_session_tasks(places, [session], places.dead)),
    }
    index.forget(session)
    return gone


def _forget_changes(places: Places, project: str, folder: str, session: str) -> int:
    """In a journal, and in the files that are made from it."""
    gone = forget(folder, session)
    memory = os.path.dirname(folder)
    notes = [
        os.path.join(memory, name, file) for name in FOLDERS.values() for file in list_names(os.path.join(memory, name))
    ]
    fields = {path: split_front_matter((read_text(path, 1 << 20) or "")[:8192])[0] for path in notes if project}
    _unlink(path for path, known in fields.items() if known.get("session_id") == session)
    if project and gone:
        handoff = os.path.join(memory, HANDOFF)
        if split_front_matter(read_text(handoff, 1 << 20) or "")[0].get("session_id") == session:
            _unlink([handoff])
        write_handoff(handoff, fold(read_folder(folder)))
    return gone


def _quotes(places: Places, session: str, index: NoteIndex) -> list[str]:
    """Texts of the session that later sessions may have been given, and that their records contain."""
    rows = index.session_notes(session)
    texts = [row.title.removesuffix("...") for row in rows]
    texts += [line for row in rows if row.kind in {"decision", "failure"} for line in row.body.split("\n")]
    for _project, folder in all_journals(places):
        for entry in fold(read_folder(folder)).entries.values():
            if entry.session == session:
                texts += [entry.text, *(str(one) for one in entry.details.values())]
    for path, owner in _memory_files(places):
        if owner == session:
            body = (read_text(path, 1 << 20) or "").splitlines()
            texts += [line.lstrip("->").strip() for line in body if line.startswith(("- ", "> "))]
    return [text for text in dict.fromkeys(texts) if len(text) >= _MIN_QUOTE]


def _memories(places: Places) -> Iterator[str]:
    memory = os.path.join(places.root, "memory")
    yield from (os.path.join(memory, name) for name in list_names(memory))


def _memory_files(places: Places) -> Iterator[tuple[str, str]]:
    """Files of a project's memory that belong to one session, and that session."""
    for folder in _memories(places):
        path = os.path.join(folder, HANDOFF)
        if text := read_text(path, 1 << 20):
            yield path, split_front_matter(text)[0].get("session_id", "")
        path = os.path.join(folder, LAST_SESSION)
        with suppress(ValueError, AttributeError, RecursionError):
            yield path, str(json.loads(read_text(path, 1 << 16) or "").get("session", ""))
        path = os.path.join(folder, PRE_COMPACT_SUMMARY)
        yield path, summary_session((read_text(path, 1 << 20) or "").partition("\n")[0])


def _forget_chats(places: Places, session: str, quotes: Sequence[str]) -> int:
    """The chat's transcript, its lines in the input history, and quotes of it in later chats."""
    gone = 0
    for path, owner in list(_chat_transcripts(places.chats)):
        if owner == session:
            _remove_from_history(os.path.join(places.state, _HISTORY), _user_messages(path))
            gone += _unlink([path])
        else:
            _mask_quotes(path, quotes)
    return gone


def _remove_temporary_files(places: Places) -> None:
    """A process that was killed while it wrote may have left any session's text."""
    folders = [*_memories(places), places.compact_backups, places.queue, places.done, places.dead]
    folders.append(os.path.join(places.queue, CLAIMED))
    for home in _note_folders(places):
        folders += [os.path.join(home, month) for month in list_names(home)]
    for folder in folders:
        sweep(folder, older=_WRITE_TIME)


def _tasks(places: Places) -> Iterator[tuple[str, DistillTask]]:
    for folder in (places.queue, places.done, os.path.join(places.queue, CLAIMED), places.dead):
        for name in list_names(folder):
            path = os.path.join(folder, name)
            if ".task" in name and not name.endswith(".plan") and (task := read_task(path)) is not None:
                yield path, task


def _session_tasks(places: Places, names: Sequence[str], *folders: str) -> Iterator[str]:
    for path, task in _tasks(places):
        if task.session_id in names and os.path.dirname(path) in folders:
            yield path


def _all_names(places: Places, session: str) -> set[str]:
    """An agent and its transcript may use different names for a session; a task knows both."""
    names = {session}
    for _path, task in _tasks(places):
        path = task.session_jsonl
        known = about(path, detect_agent(path, task.agent)).session if os.path.isfile(path) else ""
        if known and session in {known, task.session_id}:
            names |= {known, task.session_id} - {""}
    return names


def _plans(places: Places, names: Sequence[str]) -> Iterator[str]:
    """Answers that are not written yet. One that cannot be read is useless, and may belong to the session."""
    claimed = os.path.join(places.queue, CLAIMED)
    for name in list_names(claimed):
        path = os.path.join(claimed, name)
        if name.endswith(".plan") and ((plan := write_results.load_plan(path)) is None or plan.session in names):
            yield path


def _note_folders(places: Places) -> tuple[str, ...]:
    return places.sessions, places.learnings, os.path.join(places.root, "insights")


def _is_note(places: Places, path: str) -> bool:
    return path.endswith(".md") and any(path.startswith(home.rstrip("/") + "/") for home in _note_folders(places))


def _unlink(paths: Iterable[str]) -> int:
    gone = 0
    for path in list(paths):
        with suppress(FileNotFoundError):
            os.unlink(path)
            gone += 1
    return gone


def _forget_log_lines(path: str, session: str) -> int:
    """Remove the lines that name the session: some contain what a model answered."""
    marks = [mark.encode() for mark in (session, f"-{short_id(session)}.task", f"-{short_id(session)}.md")]
    with suppress(OSError):
        handle = open_locked(path, os.O_RDWR | os.O_APPEND, wait=True)
        assert handle is not None, "it was waited for"
        with open(handle, "r+b") as log:
            lines = log.read().splitlines(keepends=True)
            kept = [line for line in lines if not any(mark in line for mark in marks)]
            if len(kept) < len(lines):
                log.truncate(0)
                log.write(b"".join(kept))
            return len(lines) - len(kept)
    return 0


def _forget_rows(path: str, statements: tuple[str, ...], session: str) -> int:
    """A file without our tables has no rows of ours. Raises sqlite3.Error."""
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


#: In the state directory: the lines typed into all chats.
_HISTORY = "chat_history"


def _chat_transcripts(folder: str) -> Iterator[tuple[str, str]]:
    """Each transcript and its session."""
    for project in list_names(folder):
        for name in list_names(os.path.join(folder, project)):
            if name.endswith(".jsonl"):
                yield os.path.join(folder, project, name), name.removesuffix(".jsonl")


def _user_messages(path: str) -> set[str]:
    return {message.text.strip() for message in read(path, "hookline") if message.role == "user"}


def _remove_from_history(path: str, typed: set[str]) -> None:
    """Remove lines from the input history. Raises OSError."""
    text = read_text(path)
    if not text or not typed:
        return
    entries = text.split("\n# ")
    inputs = ("\n".join(line[1:] for line in one.split("\n")[1:] if line.startswith("+")) for one in entries)
    kept = [entry for entry, line in zip(entries, inputs, strict=True) if line.strip() not in typed]
    if len(kept) < len(entries):
        replace_atomically(path, "\n# ".join(kept))


def _mask_quotes(path: str, quotes: Iterable[str]) -> None:
    """Overwrite quotes with asterisks, in place, because the chat may be running. Raises OSError."""
    with open(path, "r+b") as file:
        content = file.read()
        for text in quotes:
            for written in {json.dumps(text)[1:-1].encode(), json.dumps(text, ensure_ascii=False)[1:-1].encode()}:
                place = content.find(written)
                while place >= 0:
                    file.seek(place)
                    file.write(b"*" * len(written))
                    place = content.find(written, place + len(written))
