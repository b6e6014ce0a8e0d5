"""Read and append to the journal of a project, and to that of all projects.

A line is written with one call under a lock and reaches the disk before anybody relies on it. Half a line, left by a
full disk or a power cut, is skipped by readers and closed off by the next writer.
"""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any, cast, get_args

from hookline.core._dataclass import dataclass, empty, fields, replace
from hookline.core.files import list_names, read_text, replace_atomically
from hookline.memory.journal import legacy
from hookline.memory.journal.model import Change, Entry, Kind, Op, Source, State, digest, fold, text_key
from hookline.memory.layout import Places, make_private
from hookline.memory.project import Project

FOLDER = "journal"
_MACHINE = "machine"
#: What stands in file names and in terminals, in a line that another machine of a shared vault may have written.
_ID, _TIME = re.compile(r"[\w-]{1,64}", re.ASCII), re.compile(r"[0-9T:.Z+-]{0,40}")
_OPS, _SOURCES = frozenset(get_args(Op)), frozenset(get_args(Source))


@dataclass(frozen=True, slots=True, kw_only=True)
class Author:
    """Who changes something, and in which session."""

    source: Source
    agent: str = ""
    session: str = ""


class Journal:
    """Entries of one project and those for all projects. Raises OSError and StateError when it writes."""

    def __init__(
        self,
        places: Places,
        project: Project,
        cwd: str = "",
        *,
        memory: str = "",
        clock: Callable[[], float] = time.time,
    ) -> None:
        """``memory``: the directory to write to, if it is not the project's own."""
        self._places, self._project, self._clock = places, project, clock
        self.memory = memory or places.memory(project)
        self._memories = tuple(dict.fromkeys((self.memory, *places.memories(project, cwd))))

    @property
    def folder(self) -> str:
        """The name of the project's folder: what entries have as their project."""
        return os.path.basename(self.memory)

    def state(self) -> State:
        return fold(self.changes())

    def changes(self) -> Iterator[Change]:
        """Everything that can be read; what earlier versions and other programs left comes last."""
        seen: set[str] = set()
        for folder in (journal_folder(self._places, ""), *(os.path.join(one, FOLDER) for one in self._memories)):
            for change in read_folder(folder):
                named = self._named(change)
                if named.op == "add":
                    seen.add(named.entry)
                yield named
        for change in legacy.legacy_changes(self._places, self._memories, seen):
            yield self._named(change)

    def _named(self, change: Change) -> Change:
        """A repository that got a remote has a new folder; its entries are the same project's."""
        if change.op == "add" and change.data.get("project") not in ("", self.folder):
            return replace(change, data={**change.data, "project": self.folder})
        return change

    def add(
        self,
        kind: Kind,
        text: str,
        author: Author,
        *,
        details: Mapping[str, Any] | None = None,
        everywhere: bool = False,
        at: str = "",
        numbered: bool = False,
    ) -> Entry:
        """Add an entry, or return the current one with this text. In a session the same text is one entry, whenever it
        is added: a killed worker may try again. ``numbered``: its details get the next number of its kind."""
        from hookline.memory.dir_lock import lock_directory  # readers need no lock

        project = "" if everywhere else self.folder
        with lock_directory(self.memory):
            state = self.state()
            key = text_key(text)
            unique = author.session or os.urandom(8).hex()
            id_ = digest(kind, unique, key)[:12]
            same = state.entries.get(id_)
            if same is None and kind != "note":
                same = next((one for one in state.current(kind) if text_key(one.text) == key), None)
            if same is not None:
                return same
            more = dict(details or {})
            if numbered:
                known = (one.details.get("number") for one in state.entries.values() if one.kind == kind)
                more["number"] = 1 + max((one for one in known if isinstance(one, int)), default=0)
            data = {"kind": kind, "text": text, "project": project, "details": more}
            change = self._change("add", id_, 0, author, data, at)
            self._append(project, change)
        return fold([change]).entries[id_]

    def change(self, op: Op, entry: Entry, author: Author, **data: Any) -> Change:
        """Supersede (``by``: the successor's id), close, retire, reopen, pin, unpin, edit (``text``, ``details``)."""
        from hookline.memory.dir_lock import lock_directory

        with lock_directory(self.memory):
            known = self.state().entries.get(entry.id, entry)
            if not known.changes[0].machine:
                self.adopt(known)
            change = self._change(op, entry.id, len(known.changes), author, data)
            self._append(known.project, change)
        return change

    def adopt(self, entry: Entry) -> None:
        """Write down what only a file has: it may be replaced, or be another program's."""
        self._append(entry.project, replace(entry.changes[0], machine=machine_name(self._places.state)))

    def mark_distilled(self, author: Author, until: float, state: str = "") -> None:
        self._append(self.folder, self._change("distilled", "", 0, author, {"until": until, "state": state}))

    def _change(  # noqa: PLR0917  the fields of one line
        self, op: Op, entry: str, number: int, author: Author, data: Mapping[str, Any], at: str = ""
    ) -> Change:
        moment = at or _utc(self._clock())
        machine = machine_name(self._places.state)
        return Change(
            id=digest(entry, op, number, machine, moment, sorted(data.items(), key=str)), op=op, entry=entry,
            number=number, at=moment, source=author.source, agent=author.agent, session=author.session,
            machine=machine, data=data,
        )  # fmt: skip

    def _append(self, project: str, change: Change) -> None:
        folder = make_private(os.path.join(self.memory, FOLDER) if project else journal_folder(self._places, ""))
        day = _utc(self._clock())[:10]
        append(os.path.join(folder, f"{day}-{change.machine}.jsonl"), change)


def journal_folder(places: Places, project: str) -> str:
    """``project``: the name of a project's folder, or "" for entries of all projects."""
    return os.path.join(places.root, "memory", project, FOLDER) if project else os.path.join(places.root, FOLDER)


def all_journals(places: Places) -> Iterator[tuple[str, str]]:
    """Every project with a journal, and the journal's directory; first that of all projects, named ""."""
    yield "", journal_folder(places, "")
    for name in list_names(os.path.join(places.root, "memory")):
        folder = journal_folder(places, name)
        if os.path.isdir(folder):
            yield name, folder


def read_folder(folder: str) -> Iterator[Change]:
    for name in list_names(folder):
        if name.endswith(".jsonl"):
            for line in (read_text(os.path.join(folder, name)) or "").split("\n"):
                if change := parse_change(line):
                    yield change


def _session_changes(folder: str, session: str) -> set[str]:
    """The lines of a journal that a session wrote, or that are about an entry of the session; by their ids."""
    changes = list(read_folder(folder))
    own = {one.entry for one in changes if one.op == "add" and one.session == session}
    return {one.id for one in changes if one.session == session or one.entry in own}


def forget(folder: str, session: str) -> int:
    """Remove these lines; how many. Raises OSError and StateError."""
    from hookline.memory.dir_lock import lock_directory

    gone = _session_changes(folder, session)
    if not gone:
        return 0
    with lock_directory(os.path.dirname(folder)):
        for name in list_names(folder):
            path = os.path.join(folder, name)
            lines = (read_text(path, errors="surrogateescape") or "").split("\n")
            kept = [line for line in lines if not ((change := parse_change(line)) and change.id in gone)]
            if len(kept) < len(lines):
                replace_atomically(path, "\n".join(kept))
    return len(gone)


def append(path: str, change: Change) -> None:
    """Raises OSError; then readers see nothing of it."""
    tree = {"v": 1, **{slot.name: getattr(change, slot.name) for slot in fields(change)}, "data": dict(change.data)}
    line = json.dumps(tree, ensure_ascii=False).encode("utf-8", "replace") + b"\n"
    handle = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        size = os.fstat(handle).st_size
        if size and os.pread(handle, 1, size - 1) != b"\n":
            line = b"\n" + line
        if os.write(handle, line) < len(line):
            raise OSError(28, "No space left on device", path)
        os.fsync(handle)
    finally:
        os.close(handle)


def parse_change(line: str) -> Change | None:
    """None for a line that is not a change: half of one, or a later version's."""
    if not line.strip():
        return None
    try:
        tree = json.loads(line)
        op, source, data, number = tree["op"], tree.get("source"), tree.get("data"), tree.get("number")
        texts = {name: str(tree.get(name) or "") for name in ("id", "entry", "at", "agent", "session", "machine")}
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    if not (isinstance(op, str) and isinstance(source, str) and type(number) is int):
        return None
    if op not in _OPS or source not in _SOURCES or not _TIME.fullmatch(texts["at"]):
        return None
    if op != "distilled" and not _ID.fullmatch(texts["entry"]):
        return None
    return Change(
        op=cast("Op", op), source=cast("Source", source), number=number, data=data if isinstance(data, dict) else empty(), **texts
    )  # fmt: skip


def machine_name(state: str) -> str:
    """A name for this machine's files, unlike that of any other: made once, and kept with our state."""
    path = os.path.join(state, _MACHINE)
    known = (read_text(path, 256) or "").strip()
    if re.fullmatch(r"[a-z0-9-]{6,60}", known):
        return known
    plain = re.sub(r"[^a-z0-9]+", "-", os.uname().nodename.lower()).strip("-")[:30] or "machine"
    make_private(state)
    with suppress(FileExistsError):
        replace_atomically(path, f"{plain}-{os.urandom(4).hex()}\n", exclusive=not known)
    return (read_text(path, 256) or plain).strip()


def _utc(seconds: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(seconds)) + f".{int(seconds % 1 * 1000):03d}Z"
