"""Where notes are, and how each file is indexed: sessions, decisions, failures, learnings and insights."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.files import list_names
from hookline.memory.journal.files import FOLDER as JOURNAL
from hookline.memory.journal.files import read_folder
from hookline.memory.journal.legacy import FILES, legacy_changes_in
from hookline.memory.journal.model import Entry, digest, fold
from hookline.memory.layout import HANDOFF, Places, encode_cwd
from hookline.memory.notes.front_matter import parse_note, split_front_matter
from hookline.memory.project import Project

try:
    from _blake2 import blake2b  # as in project: hashlib loads OpenSSL first
except ImportError:
    from hashlib import blake2b


_Kind = Literal["session", "decision", "failure", "open", "note", "learning", "insight"]
KINDS: tuple[_Kind, ...] = ("session", "decision", "failure", "open", "note", "learning", "insight")
#: Bytes of a note that are indexed: the beginning and the end of a longer one.
_MAX_NOTE = 400_000
#: The scope of notes for every project.
_EVERYWHERE = "everywhere"
#: Levels of directories that are searched.
_MAX_DEPTH = 8
#: Directories of a project's memory with a Markdown note per entry, and files with all entries of a kind.
_NOTES = {"decision": "decisions", "failure": "failures"}
_FILES: Mapping[str, str] = {"open": HANDOFF, **{kind: name for name, kind in FILES.items()}}


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A note as it is indexed and found. ``scope`` is the word in the index for its project."""

    kind: str
    title: str
    body: str = ""
    tags: str = ""
    scope: str = _EVERYWHERE
    project: str = ""
    session: str = ""
    date: str = ""
    agent: str = ""
    #: As in the journal: ``current``, or why it no longer counts.
    status: str = "current"
    #: Ids in the journal, for a note that is an entry: its own, and that of the entry that counts instead.
    entry: str = ""
    successor: str = ""
    #: The file to open, if it is not the one that was read.
    path: str = ""
    #: In a search result: higher is better; how near in meaning, at most 1 (0 without a model); the part of the body with
    #: the words.
    score: float = 0.0
    near: float = 0.0
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Listed:
    """A file, or an entry, and what makes it another one."""

    signature: str
    read: Callable[[], Iterable[Note]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A directory with notes of one kind; ``entries`` is a project's memory: its journal, and what was left beside it."""

    path: str
    kind: _Kind | Literal["entries"]
    scope: str = ""
    #: Before it was listed.
    signature: str = ""

    def holds(self, name: str) -> bool:
        return name.endswith(".md") and not name.startswith((".", "_review-"))


def folders(places: Places, known: Mapping[str, str] = MappingProxyType({})) -> Iterator[Folder]:
    """Every directory with notes; a few hundred, however many notes there are.

    ``known``: directories and their signatures. An unchanged one has the same subdirectories and is not listed again,
    which would cost as much as all the notes in it.
    """
    inside: dict[str, list[str]] = {}
    for path in known:
        inside.setdefault(os.path.dirname(path), []).append(path)
    yield from _below(places.sessions, "session", known, inside)
    yield from _below(places.learnings, "learning", known, inside)
    yield from _below(os.path.join(places.root, "insights"), "insight", known, inside)
    memory = os.path.join(places.root, "memory")
    for name in _folders_in(memory):
        path = os.path.join(memory, name)
        yield Folder(path=path, kind="entries", scope=_scope("folder", name), signature=_memory_signature(path))
    everywhere = os.path.join(places.root, JOURNAL)
    if os.path.isdir(everywhere):
        yield Folder(path=everywhere, kind="entries", scope=_EVERYWHERE, signature=_memory_signature(everywhere))
    if places.agent:
        projects = os.path.join(places.agent, "projects")
        for name in _folders_in(projects):
            left = os.path.join(projects, name, "memory")
            if signature := _memory_signature(left):
                yield Folder(path=left, kind="entries", scope=_scope("encoded", name), signature=signature)


def session_folder(places: Places, path: str) -> Folder | None:
    """The directory of a session's note that was just written."""
    above = os.path.dirname(path)
    inside = (above + "/").startswith(places.sessions.rstrip("/") + "/")
    return Folder(path=above, kind="session") if inside else None


def scopes(project: Project, cwd: str) -> tuple[str, ...]:
    """The words in the index for this project and for all projects."""
    own = [_scope("folder", name) for name in (project.folder, *project.earlier)]
    left = [_scope("encoded", name) for place in (cwd, project.root) for name in encode_cwd(place)]
    return tuple(dict.fromkeys([*own, _scope("name", project.name), *left, _EVERYWHERE]))


def _below(
    folder: str, kind: _Kind, known: Mapping[str, str], inside: Mapping[str, list[str]], depth: int = _MAX_DEPTH
) -> Iterator[Folder]:
    signature = file_signature(folder)
    if not signature:
        return
    yield Folder(path=folder, kind=kind, signature=signature)
    unchanged = known.get(folder) == signature
    below = inside.get(folder, []) if unchanged else [os.path.join(folder, name) for name in _folders_in(folder)]
    for path in sorted(below) if depth else ():
        yield from _below(path, kind, known, inside, depth - 1)


def file_signature(path: str) -> str:
    """Changes with the file or directory: time, size and inode. "" if there is none."""
    try:
        return _stat_signature(os.stat(path))
    except OSError:
        return ""


def _memory_signature(folder: str) -> str:
    """Changes with every line of the journal, and when a view is replaced; the newest time comes first."""
    if not os.path.isdir(folder):
        return ""
    journal = _journal(folder)
    paths = [folder, *(os.path.join(journal, name) for name in list_names(journal))]
    found = [
        one
        for path in (*paths, *(os.path.join(folder, name) for name in _NOTES.values()))
        if (one := file_signature(path))
    ]
    newest = max(int(one.partition(" ")[0]) for one in found)
    return f"{newest} {digest(*found)}"


def _journal(folder: str) -> str:
    return folder if os.path.basename(folder) == JOURNAL else os.path.join(folder, JOURNAL)


def _stat_signature(status: os.stat_result) -> str:
    return f"{status.st_mtime_ns} {status.st_size} {status.st_ino}"


def _folders_in(folder: str) -> list[str]:
    try:
        with os.scandir(folder) as entries:
            return sorted(one.name for one in entries if one.is_dir() and not one.name.startswith("."))
    except OSError:
        return []


def _scope(how: str, name: str) -> str:
    """One plain word: a directory can have any name."""
    return how[0] + blake2b(f"{how}:{name}".encode(errors="surrogateescape"), digest_size=6).hexdigest()


def list_notes(folder: Folder) -> dict[str, Listed]:
    """What is in a directory now, by name. Never raises: what cannot be read is not there."""
    return dict(_entries(folder) if folder.kind == "entries" else _files(folder))


def _files(folder: Folder) -> Iterator[tuple[str, Listed]]:
    with suppress(OSError), os.scandir(folder.path) as entries:
        for entry in entries:
            if folder.holds(entry.name) and entry.name.isprintable():
                with suppress(OSError):
                    if entry.is_file():
                        yield entry.name, note_listing(folder, entry.path, _stat_signature(entry.stat()))


def note_listing(folder: Folder, path: str, signature: str) -> Listed:
    return Listed(signature=signature, read=partial(_read, folder, path))


def _read(folder: Folder, path: str) -> Iterator[Note]:
    assert folder.kind != "entries"
    text = _ends(path)
    note = parse_note(path, text)
    fields, body = split_front_matter(text)
    if folder.kind == "session":  # the lines above repeat the front matter
        body = body[body.find("\n## ") + 1 :]
    title = fields.get("title") or (note.prompt if note else "") or _heading(text) or os.path.basename(path)[:-3]
    yield Note(
        kind=folder.kind, title=title, body=body, tags=fields.get("tags", ""),
        scope=_note_scope(folder.kind, fields), project=fields.get("project") or fields.get("origin", ""),
        session=fields.get("session_id") or fields.get("origin_session", ""),
        date=fields.get("date", "") or os.path.basename(path)[:10], agent=fields.get("agent", ""),
        status="retired" if fields.get("status") == "deprecated" else "current", entry=fields.get("id", ""),
        successor=fields.get("superseded_by", ""),
    )  # fmt: skip


def _note_scope(kind: _Kind, fields: Mapping[str, str]) -> str:
    if kind == "learning":
        return _scope("name", fields.get("origin", "")) if fields.get("scope") == "project" else _EVERYWHERE
    if repository := fields.get("repository"):
        return _scope("folder", repository)
    return _scope("name", fields.get("project", ""))


def _entries(folder: Folder) -> Iterator[tuple[str, Listed]]:
    """Learnings have files of their own, and a duplicate is told by its original."""
    project = os.path.basename(folder.path)
    changes = list(read_folder(_journal(folder.path)))
    if _journal(folder.path) != folder.path:
        changes += legacy_changes_in(folder.path, project, {one.entry for one in changes if one.op == "add"})
    notes = {
        name: os.path.join(folder.path, place, name)
        for place in _NOTES.values()
        for name in list_names(os.path.join(folder.path, place))
    }
    by_id = {name.removesuffix(".md").rpartition("-")[2]: path for name, path in notes.items()}
    for entry in fold(changes).entries.values():
        if entry.kind != "learning" and entry.status != "duplicate":
            path = by_id.get(entry.id[:4], "") if entry.kind in _NOTES else ""
            note = _entry_note(folder, entry, path or os.path.join(folder.path, _FILES[entry.kind]))
            signature = digest(note.title, note.body, note.tags, note.status, note.successor, note.path)
            yield entry.id, Listed(signature=signature, read=partial(_only, note))


def _only(note: Note) -> tuple[Note]:
    return (note,)


def _entry_note(folder: Folder, entry: Entry, path: str) -> Note:
    name = _text(entry.details.get("project_name")) or entry.project
    return Note(
        kind=entry.kind, title=entry.text, body=_entry_body(entry.details), tags=" ".join(_texts(entry.details.get("tags"))),
        scope=folder.scope, project=name, session=entry.session, date=entry.created[:16].replace("T", " "),
        agent=entry.agent, status=entry.status, entry=entry.id, successor=entry.successor, path=path,
    )  # fmt: skip


def _entry_body(details: Mapping[str, Any]) -> str:
    """Prevention first: it is the useful part of a failure."""
    names = ("prevention", "rationale", "context", "root_cause", "resolution", "alternatives", "learning", "body")
    return "\n".join(text for name in names for text in _texts(details.get(name)))


def _texts(value: Any) -> list[str]:
    items = value if isinstance(value, list) else [value]
    return [item for item in items if isinstance(item, str) and item]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _heading(text: str) -> str:
    return next((line.lstrip("# ").strip() for line in text[:4096].splitlines() if line.strip("#- ")), "")[:200]


def _ends(path: str) -> str:
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with open(handle, "rb") as file:
            size = os.fstat(handle).st_size
            if size <= _MAX_NOTE:
                data = file.read(_MAX_NOTE)
            else:
                data = file.read(_MAX_NOTE // 2)
                file.seek(size - _MAX_NOTE // 2)
                data += b"\n" + file.read(_MAX_NOTE // 2)
    except OSError:
        return ""
    return data.decode("utf-8", "replace")
