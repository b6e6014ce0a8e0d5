"""Where the transcript of an event's session is: as the agent says, or at the agent's usual place."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Mapping
from typing import Any

from hookline.core._dataclass import dataclass


def transcript_path(agent: str, data: Mapping[str, Any], home: str, environ: Mapping[str, str] | None = None) -> str:
    """The path of an existing file, or "". For agents that do not send it, it is found by the session."""
    for name in ("transcript_path", "transcriptPath"):
        named = data.get(name)
        if isinstance(named, str) and named:
            return named if os.path.isfile(named) else ""
    from hookline.transcripts.reading import reader_class  # most agents send the path

    found = reader_class(agent).locate(data, home, environ or {})
    return found if found and os.path.isfile(_session_file(found)) else ""


def agent_home(variable: str, environ: Mapping[str, str], home: str, *usual: str) -> str:
    """An agent's own directory: from the variable, else the usual one below home."""
    moved = environ.get(variable, "")
    return moved if os.path.isabs(moved) else os.path.join(home, *usual)


def _session_file(path: str) -> str:
    """The file itself, also where the path names one session in a database (``FILE#SESSION``)."""
    database, mark, _session = path.rpartition("#")
    return database if mark and not os.path.lexists(path) else path


def mtime(path: str) -> float:
    """When the session was last written to. Raises OSError."""
    file = _session_file(path)
    changed = os.stat(file).st_mtime
    if file == path:
        return changed
    try:
        return max(changed, os.stat(f"{file}-wal").st_mtime)
    except OSError:
        return changed


def first_text(data: Mapping[str, Any], *fields: str) -> str:
    """The first of these fields that holds a text."""
    found = (data.get(field) for field in fields)
    return next((value for value in found if isinstance(value, str) and value), "")


# ── the sessions of a directory ──────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFile:
    modified: float
    agent: str
    path: str
    #: Its folder is for this directory only; otherwise the transcript must name the directory.
    certain: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Where to look; ``environ`` has only trusted variables."""

    home: str
    environ: Mapping[str, str]
    #: Claude Code's own directory, and the one of our chats.
    claude: str = ""
    chats: str = ""


def folder_names(directory: str) -> set[str]:
    """The names that agents give to the folder of a directory."""
    return {re.sub(r"[^A-Za-z0-9-]", "-", directory), directory.replace("/", "-")}


def files_in(agent: str, folder: str, ending: str, *, certain: bool = True) -> Iterator[SessionFile]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ending) and entry.is_file():
                    modified = entry.stat().st_mtime
                    yield SessionFile(modified=modified, agent=agent, path=entry.path, certain=certain)
    except OSError:
        return
