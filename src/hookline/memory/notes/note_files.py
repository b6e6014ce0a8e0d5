"""Where notes are, and how each file is indexed: sessions, decisions, failures, learnings and insights."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any, Literal

from hookline.core._dataclass import dataclass
from hookline.core.files import read_text
from hookline.memory.layout import DECISIONS, FAILURES, NOTES, Places, encode_cwd
from hookline.memory.notes.entries import parse_entry
from hookline.memory.notes.front_matter import parse_note, split_front_matter
from hookline.memory.project import Project

try:
    from _blake2 import blake2b  # as in project: hashlib loads OpenSSL first
except ImportError:
    from hashlib import blake2b


_Kind = Literal["session", "decision", "failure", "note", "learning", "insight"]
KINDS: tuple[_Kind, ...] = ("session", "decision", "failure", "note", "learning", "insight")
#: Bytes of a note that are indexed: the beginning and the end of a longer one.
_MAX_NOTE = 400_000
#: The scope of notes for every project.
_EVERYWHERE = "everywhere"
#: Levels of directories that are searched.
_MAX_DEPTH = 8
_ENTRIES: Mapping[str, _Kind] = {DECISIONS: "decision", FAILURES: "failure", NOTES: "note"}


@dataclass(frozen=True, slots=True, kw_only=True)
class ParsedNote:
    """A note as it is indexed. ``scope`` is the word in the index for its project."""

    kind: _Kind
    title: str
    body: str = ""
    tags: str = ""
    scope: str = _EVERYWHERE
    project: str = ""
    session: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Folder:
    """A directory with notes of one kind; ``entries`` has the files of a project's memory."""

    path: str
    kind: _Kind | Literal["entries"]
    scope: str = ""
    #: Before it was listed.
    signature: str = ""

    def holds(self, name: str) -> bool:
        if self.kind == "entries":
            return name in _ENTRIES
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
        yield Folder(path=path, kind="entries", scope=_scope("folder", name), signature=file_signature(path))
    if places.agent:
        projects = os.path.join(places.agent, "projects")
        for name in _folders_in(projects):
            left = os.path.join(projects, name, "memory")
            if signature := file_signature(left):
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
        return stat_signature(os.stat(path))
    except OSError:
        return ""


def stat_signature(status: os.stat_result) -> str:
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


def read_notes(folder: Folder, path: str) -> Iterator[ParsedNote]:
    """Never raises: a file that cannot be read has no notes."""
    if folder.kind == "entries":
        yield from _entries(folder, path)
        return
    text = _ends(path)
    note = parse_note(path, text)
    fields, body = split_front_matter(text)
    if folder.kind == "session":  # the lines above repeat the front matter
        body = body[body.find("\n## ") + 1 :]
    title = fields.get("title") or (note.prompt if note else "") or _heading(text) or os.path.basename(path)[:-3]
    yield ParsedNote(
        kind=folder.kind, title=title, body=body, tags=fields.get("tags", ""),
        scope=_note_scope(folder.kind, fields), project=fields.get("project") or fields.get("origin", ""),
        session=fields.get("session_id") or fields.get("origin_session", ""),
        date=fields.get("date", "") or os.path.basename(path)[:10],
    )  # fmt: skip


def _note_scope(kind: _Kind, fields: Mapping[str, str]) -> str:
    if kind == "learning":
        return _scope("name", fields.get("origin", "")) if fields.get("scope") == "project" else _EVERYWHERE
    if repository := fields.get("repository"):
        return _scope("folder", repository)
    return _scope("name", fields.get("project", ""))


def _entries(folder: Folder, path: str) -> Iterator[ParsedNote]:
    kind = _ENTRIES[os.path.basename(path)]
    for line in (read_text(path) or "").split("\n"):
        if entry := parse_entry(line):
            yield ParsedNote(
                kind=kind, title=str(entry["summary"]), body=_entry_body(entry), tags=" ".join(_texts(entry.get("tags"))),
                scope=folder.scope, project=_text(entry.get("project")), session=_text(entry.get("session_id")),
                date=_text(entry.get("ts"))[:16].replace("T", " "),
            )  # fmt: skip


def _entry_body(entry: Mapping[str, Any]) -> str:
    """Prevention first: it is the useful part of a failure."""
    names = ("prevention", "rationale", "context", "root_cause", "resolution", "alternatives")
    return "\n".join(text for name in names for text in _texts(entry.get(name)))


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
