"""``memory``: the tool with which hook agents keep notes of a repository, where ``hookline memory search`` finds them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hookline.core.errors import StateError
from hookline.core.event import Event, event_kind
from hookline.core.files import read_text
from hookline.llm.tools import ToolPlace
from hookline.memory.journal.files import Author, Journal
from hookline.memory.journal.model import Entry
from hookline.memory.layout import describe_error, memory_places
from hookline.memory.notes.index import open_index
from hookline.memory.notes.note_files import scopes
from hookline.memory.notes.search import parse_query, search
from hookline.memory.project import find_project
from hookline.memory.settings import event_environment, load
from hookline.state.record.redact import Redactor

_LONGEST_NOTE = 20_000
#: Bytes of notes that a repository may have; a model must not fill the disk.
LARGEST_STORE = 4 << 20
_ALL = "all"


class Memory:
    """Notes of one repository, without secrets, in its journal. Several processes may write at once."""

    name = "memory"

    def __init__(self, place: ToolPlace) -> None:
        self._cwd = place.cwd or place.project
        event = Event(
            kind=event_kind("Stop"), data={}, cwd=self._cwd, environ=place.environ, agent=place.agent,
            directories=place.directories,
        )  # fmt: skip
        here = event_environment(event)
        settings, _ = load(here)
        self._project = find_project(self._cwd)
        self._places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
        self._journal = Journal(self._places, self._project, self._cwd)
        self._author = Author(source="agent", agent=place.agent)
        self._clean = Redactor(place.environ, settings.redact).text
        self._adopt(_earlier_file(here.paths.state, place.project))

    def _adopt(self, path: str) -> None:
        """Notes of earlier versions, which had a store of their own."""
        text = read_text(path)
        if text is None:
            return
        for line in text.splitlines():
            with suppress(ValueError, KeyError, TypeError):
                self._save(str(json.loads(line)["text"]), "")
        os.replace(path, f"{path}.adopted")

    @property
    def functions(self) -> Sequence[Callable[..., Any]]:
        return (self.memory, self.memory_search)

    def memory(  # noqa: PLR0917  the arguments that memex's prompts name
        self,
        action: str,
        memory: str = "",
        project: str = "",
        id: str = "",  # noqa: A002  as above
        content: str = "",
        desc: str = "",
    ) -> str:
        """Save, read or clear notes for later turns and sessions of this repository.

        Args:
            action: save, read or clear.
            memory: the note to save; one fact or decision, understandable without the conversation.
            project: a name to keep notes apart by; "all" reads or clears those of every name.
            id: the number of one note to read or clear.
            content: the note, if memory is empty.
            desc: not used.
        """
        del desc
        try:
            return self._act(action.strip().lower(), (memory or content).strip(), project.strip(), str(id).strip())
        except (OSError, StateError) as error:
            return f"nothing was changed: {describe_error(error, self._places)}"

    def _act(self, action: str, text: str, scope: str, given: str) -> str:
        if action == "save":
            return self._save(text[:_LONGEST_NOTE], scope)
        if action == "read":
            return "\n\n".join(_shown(one) for one in self.notes() if _is_meant(one, given, scope)) or "no such notes"
        if action == "clear":
            return self._clear(given, scope)
        return f"there is no action {action!r}; use save, read or clear"

    def memory_search(self, query: str, limit: int = 5) -> str:
        """Find notes, decisions, failures and sessions of this repository, best first.

        Args:
            query: words to look for.
            limit: how many at most.
        """
        try:
            with open_index(self._places, self._clean) as index:
                index.sync(self._places)
                own = scopes(self._project, self._cwd)
                found = search(index, parse_query(query), scopes=own, limit=max(1, min(limit, 50)))
        except (sqlite3.Error, OSError, StateError) as error:
            return f"the index cannot be searched: {error}"
        lines = [
            f"{one.kind}, {one.date[:10]}{'' if one.status == 'current' else f' ({one.status})'}\n{one.title}"
            for one in found
        ]
        return "\n\n".join(lines) or "no note matches"

    def notes(self) -> list[Entry]:
        """Those that were not cleared, oldest first; of the repository under its earlier names too."""
        return self._journal.state().current("note")

    def _save(self, text: str, scope: str) -> str:
        if not text:
            return "nothing to save: the note is empty"
        if sum(len(one.text) for one in self.notes()) + len(text) > LARGEST_STORE:
            return "nothing was saved: the notes of this repository are full; clear some first"
        details = {"scope": "" if scope == _ALL else scope}
        note = self._journal.add("note", self._clean(text), self._author, details=details, numbered=True)
        return f"saved with ID {note.details['number']}"

    def _clear(self, given: str, scope: str) -> str:
        """Retired: they are no longer read, and stay in the history."""
        if not given and not scope:
            return "say which notes to clear: give an id, or a project (all for every note)"
        meant = [one for one in self.notes() if _is_meant(one, given, scope)]
        if given and len(meant) > 1:  # two machines counted without knowing of each other
            return f"several notes have this ID; clear one of: {', '.join(one.id for one in meant)}"
        for one in meant:
            self._journal.change("retire", one, self._author)
        return f"cleared {len(meant)} notes" if len(meant) != 1 else "cleared 1 note"


def _earlier_file(state: str, project: str) -> str:
    root = os.path.realpath(project)
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(root)).strip("-.")[:40] or "project"
    digest = hashlib.blake2b(root.encode(errors="surrogateescape"), digest_size=5).hexdigest()
    return os.path.join(state, "memory", f"{slug}-{digest}.jsonl")


def _is_meant(note: Entry, given: str, scope: str) -> bool:
    if given:
        return given in {note.id, str(note.details.get("number"))}
    return scope.lower() == _ALL or note.details.get("scope", "") == scope


def _shown(note: Entry) -> str:
    number = note.details.get("number", note.id)
    return f"ID {number}, {note.details.get('scope') or 'default'}, {note.created}\n{note.text}"
