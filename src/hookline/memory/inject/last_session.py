"""The most recent exported session of a project, found without reading all notes.

Every export leaves a pointer in the project's memory. Notes from elsewhere (lazy-harness, another machine) are searched
from the newest day backwards for a short time: ten thousand notes must not delay a start.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from time import monotonic

from hookline.core.files import list_names, modification_time, read_text, replace_atomically
from hookline.memory.layout import LAST_SESSION, Places, make_private
from hookline.memory.notes.front_matter import SessionNote, read_note
from hookline.memory.project import Project

#: Seconds for the search. A few dozen notes are read even on a busy machine.
SEARCH_TIMEOUT = 0.05


def write_pointer(
    places: Places, project: Project, path: str, *, session: str, agent: str, transcript: str, changed: float
) -> None:
    """The path is relative to the sessions: another machine may have them elsewhere. ``changed`` is the time of the
    transcript. Raises OSError and StateError."""
    folder = make_private(places.memory(project))
    tree = {
        "note": os.path.relpath(path, places.sessions), "session": session, "source_mtime": round(changed),
        "transcript": transcript, "agent": agent,
    }  # fmt: skip
    replace_atomically(os.path.join(folder, LAST_SESSION), f"{json.dumps(tree)}\n", durable=False)


def read_pointer(places: Places, project: Project) -> dict[str, str | int]:
    """What ``write_pointer`` wrote; empty if nothing was exported here yet."""
    for folder in (project.folder, *project.earlier):
        text = read_text(os.path.join(places.root, "memory", folder, LAST_SESSION), 1 << 16)
        try:
            tree = json.loads(text) if text else None
        except (ValueError, RecursionError):
            continue
        if isinstance(tree, dict):
            return {key: value for key, value in tree.items() if isinstance(value, str | int)}
    return {}


def last_session(places: Places, project: Project) -> SessionNote | None:
    """The newest note: the one that changed last among the pointer's and those of the newest day."""
    pointed = _note_at_pointer(places, project)
    found = [pointed] if pointed else []
    found += _search(places, project, pointed)
    return max(found, key=lambda note: modification_time(note.path), default=None)


def _note_at_pointer(places: Places, project: Project) -> SessionNote | None:
    name = read_pointer(places, project).get("note", "")
    path = os.path.normpath(os.path.join(places.sessions, str(name)))
    if not name or not path.startswith(places.sessions.rstrip("/") + "/"):
        return None
    return read_note(path)


def _search(places: Places, project: Project, pointed: SessionNote | None) -> list[SessionNote]:
    """The project's notes of the newest day that has any, and none older than the pointer's."""
    until = monotonic() + SEARCH_TIMEOUT
    floor = os.path.basename(pointed.path)[:10] if pointed else ""
    day, found = "", list[SessionNote]()
    for number, path in enumerate(_newest_first(places.sessions, floor)):
        name = os.path.basename(path)[:10]
        if (found and name != day) or (number % 64 == 63 and monotonic() > until):
            break
        note = read_note(path)
        if note is not None and _belongs_to(note, project):
            day = name
            found.append(note)
    return found


def _belongs_to(note: SessionNote, project: Project) -> bool:
    """By repository where the note names it, else by the project's name, which another project may share."""
    repository = note.fields.get("repository")
    if repository:
        return repository in {project.folder, *project.earlier}
    return note.fields.get("project") == project.name


def _newest_first(sessions: str, floor: str) -> Iterator[str]:
    for month in reversed(list_names(sessions)):
        if month < floor[:7]:
            return
        folder = os.path.join(sessions, month)
        for name in reversed(list_names(folder)):
            if name[:10] < floor:
                return
            if name.endswith(".md") and not name.startswith("."):
                yield os.path.join(folder, name)
