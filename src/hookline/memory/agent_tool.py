"""``memory``: the tool with which hook agents keep notes of a repository, where ``hookline memory search`` finds them."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from hookline.core.event import Event, event_kind
from hookline.core.files import read_text, replace_atomically
from hookline.llm.tools import ToolPlace
from hookline.llm.tools.rank import best
from hookline.memory.dir_lock import lock_directory
from hookline.memory.layout import NOTES, memory_places
from hookline.memory.notes.entries import parse_entry
from hookline.memory.project import find_project
from hookline.memory.settings import event_environment, load
from hookline.state.record.redact import Redactor

_LONGEST_NOTE = 20_000
#: The oldest notes make room for new ones beyond this many bytes; a model must not fill the disk.
LARGEST_STORE = 4 << 20
_ALL = "all"


class Memory:
    """Notes of one repository, without secrets. Several processes may write at once."""

    name = "memory"

    def __init__(self, place: ToolPlace) -> None:
        cwd = place.cwd or place.project
        event = Event(
            kind=event_kind("Stop"), data={}, cwd=cwd, environ=place.environ, agent=place.agent,
            directories=place.directories,
        )  # fmt: skip
        here = event_environment(event)
        settings, _ = load(here)
        project = find_project(cwd)
        places = memory_places(settings, paths=here.paths, home=here.home, environ=here.environ)
        self._files = [os.path.join(folder, NOTES) for folder in places.memories(project, cwd)]
        self._project = project.name
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
        match action.strip().lower():
            case "save":
                return self._save((memory or content).strip()[:_LONGEST_NOTE], project.strip())
            case "read":
                found = [one for one in self.notes() if _is_meant(one, str(id), project.strip())]
                return "\n\n".join(map(_shown, found)) or "no such notes"
            case "clear":
                return self._clear(str(id), project.strip())
            case other:
                return f"there is no action {other!r}; use save, read or clear"

    def memory_search(self, query: str, limit: int = 5) -> str:
        """Find notes of this repository by their words, best first.

        Args:
            query: words to look for.
            limit: how many notes at most.
        """
        notes = self.notes()
        found = best(query, [f"{one['summary']} {one.get('scope', '')}" for one in notes], limit)
        return "\n\n".join(_shown(notes[place]) for place in found) or "no note matches"

    def notes(self) -> list[dict[str, Any]]:
        """Oldest first; of the repository under its earlier names too."""
        return [one for file in reversed(self._files) for one in _parsed(read_text(file))]

    def _save(self, text: str, scope: str) -> str:
        if not text:
            return "nothing to save: the note is empty"
        file = self._files[0]
        with lock_directory(os.path.dirname(file)):
            known = self.notes()
            number = 1 + max((one["id"] for one in known if isinstance(one.get("id"), int)), default=0)
            note = {
                "ts": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()), "type": "note", "id": number,
                "summary": self._clean(text), "scope": "" if scope == _ALL else scope, "project": self._project,
            }  # fmt: skip
            lines = [*(read_text(file) or "").splitlines(), json.dumps(note, ensure_ascii=False)]
            while sum(map(len, lines)) > LARGEST_STORE:
                lines = lines[len(lines) // 4 + 1 :]
            replace_atomically(file, "".join(f"{line}\n" for line in lines if line.strip()))
        return f"saved with ID {number}"

    def _clear(self, number: str, scope: str) -> str:
        if not number and not scope:
            return "say which notes to clear: give an id, or a project (all for every note)"
        cleared = 0
        for file in self._files:
            if not os.path.exists(file):
                continue
            with lock_directory(os.path.dirname(file)):
                lines = (read_text(file) or "").splitlines()
                kept = [line for line in lines if not ((one := parse_entry(line)) and _is_meant(one, number, scope))]
                cleared += len(lines) - len(kept)
                replace_atomically(file, "".join(f"{line}\n" for line in kept))
        return f"cleared {cleared} notes" if cleared != 1 else "cleared 1 note"


def _earlier_file(state: str, project: str) -> str:
    root = os.path.realpath(project)
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(root)).strip("-.")[:40] or "project"
    digest = hashlib.blake2b(root.encode(errors="surrogateescape"), digest_size=5).hexdigest()
    return os.path.join(state, "memory", f"{slug}-{digest}.jsonl")


def _parsed(text: str | None) -> list[dict[str, Any]]:
    return [one for line in (text or "").splitlines() if (one := parse_entry(line))]


def _is_meant(note: dict[str, Any], number: str, scope: str) -> bool:
    if number:
        return str(note.get("id")) == number.strip()
    return scope.lower() == _ALL or note.get("scope", "") == scope


def _shown(note: dict[str, Any]) -> str:
    return f"ID {note.get('id', '?')}, {note.get('scope') or 'default'}, {note.get('ts', '')}\n{note['summary']}"
