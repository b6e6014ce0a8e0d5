"""``memory``: notes that hook agents leave for later turns and sessions, one file of JSON lines per project."""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Callable, Sequence
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.files import open_locked
from hookline.core.paths import private_dir
from hookline.llm.tools import ToolPlace
from hookline.llm.tools.rank import best

_LONGEST_NOTE = 20_000
#: The oldest notes make room for new ones beyond this many bytes; a model must not fill the disk.
LARGEST_STORE = 8 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class _Note:
    time: str
    text: str
    tags: tuple[str, ...] = ()

    def __str__(self) -> str:
        tags = f" [{', '.join(self.tags)}]" if self.tags else ""
        return f"{self.time}{tags} {self.text}"


class Memory:
    """Notes of one project. Several processes may write at once: every change is made under a lock."""

    name = "memory"

    def __init__(self, place: ToolPlace) -> None:
        self._file = notes_file(place)

    @property
    def functions(self) -> Sequence[Callable[..., Any]]:
        return (self.memory_append, self.memory_search, self.memory_list)

    def memory_append(self, text: str, tags: list[str] | None = None) -> str:
        """Keep a note for later turns and sessions of this project.

        Args:
            text: the note; one fact or decision, understandable without the conversation.
            tags: a few words to find it by.
        """
        note = text.strip()[:_LONGEST_NOTE]
        if not note:
            return "nothing to keep: the note is empty"
        entry = {"time": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "text": note, "tags": list(tags or ())}
        self._add(json.dumps(entry, ensure_ascii=False))
        return "kept"

    def memory_search(self, query: str, limit: int = 5) -> str:
        """Find notes of this project by their words, best first.

        Args:
            query: words to look for.
            limit: how many notes at most.
        """
        notes = self.notes()
        found = best(query, [f"{note.text} {' '.join(note.tags)}" for note in notes], limit)
        return "\n".join(str(notes[place]) for place in found) or "no note matches"

    def memory_list(self, limit: int = 20) -> str:
        """The latest notes of this project, newest first.

        Args:
            limit: how many notes at most.
        """
        newest = self.notes()[::-1][: max(1, limit)]
        return "\n".join(map(str, newest)) or "there are no notes yet"

    def notes(self) -> list[_Note]:
        """Oldest first; other lines, such as half a line after a crash, are skipped."""
        try:
            with open(self._file, encoding="utf-8", errors="replace") as file:
                return [note for line in file if (note := _note(line))]
        except FileNotFoundError:
            return []

    def _add(self, line: str) -> None:
        private_dir(os.path.dirname(self._file))
        handle = open_locked(self._file, os.O_RDWR | os.O_CREAT | os.O_APPEND, wait=True)
        assert handle is not None, "it was waited for"
        with open(handle, "r+b") as file:
            kept = file.read()
            if kept and not kept.endswith(b"\n"):
                file.write(b"\n")
            if len(kept) + len(line) > LARGEST_STORE:
                kept = kept[len(kept) // 4 :].partition(b"\n")[2]
                file.truncate(0)
                file.write(kept)
            file.write(line.encode("utf-8", "replace") + b"\n")


def notes_file(place: ToolPlace) -> str:
    """Named so that a person recognises the project, and so that two of the same name stay apart."""
    project = os.path.realpath(place.project)
    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", os.path.basename(project)).strip("-.")[:40] or "project"
    digest = hashlib.blake2b(project.encode(errors="surrogateescape"), digest_size=5).hexdigest()
    return os.path.join(place.store, "memory", f"{slug}-{digest}.jsonl")


def _note(line: str) -> _Note | None:
    try:
        entry = json.loads(line)
        return _Note(time=str(entry["time"]), text=str(entry["text"]), tags=tuple(map(str, entry.get("tags") or ())))
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
