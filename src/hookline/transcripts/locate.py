"""The sessions that any agent had in a directory, the one that was used last first.

Every agent keeps them elsewhere. Some name the folder after the directory, others keep all in one place and write the
directory down in each: of those, only the newest are looked into.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.transcripts.paths import letta_conversations, moved, opencode_database
from hookline.transcripts.reading import about

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

#: Transcripts of one agent that are looked into, the newest first: a person means a session of today, not of last year.
_LOOKED_AT = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    changed: float
    agent: str
    path: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Homes:
    """Where to look; ``environ`` holds only variables that may be believed."""

    home: str
    environ: Mapping[str, str]
    #: Claude Code's own directory, and the one of our chats.
    claude: str
    chats: str


def sessions_in(directory: str, homes: Homes) -> Iterator[Found]:
    """Whoever had them, the newest first. Nothing raises: what cannot be read is as good as absent."""
    names = tuple(dict.fromkeys((os.path.realpath(directory), os.path.abspath(directory))))
    told = [one for name in names for one in _in_folders(name, homes)]
    told += _opencode(names, homes)
    for found in _newest([*told, *_everywhere(homes)]):
        if found in told or os.path.realpath(about(found.path, found.agent).cwd or "/") == names[0]:
            yield found


def _newest(found: Iterable[Found]) -> list[Found]:
    return sorted(set(found), key=lambda one: (one.changed, one.path), reverse=True)


def _in_folders(directory: str, homes: Homes) -> Iterator[Found]:
    """Agents that name a folder after the directory; our own conversation files lie in the directory itself."""
    own = homes.home
    bare, slashes = re.sub(r"[^A-Za-z0-9-]", "-", directory), directory.replace("/", "-")
    for name in {bare, slashes}:
        yield from _files("claude-code", os.path.join(homes.claude, "projects", name), ".jsonl")
        yield from _files("qwen-code", os.path.join(own, ".qwen", "projects", name, "chats"), ".jsonl")
    yield from _files("hookline", os.path.join(homes.chats, re.sub(r"[^A-Za-z0-9]", "-", directory)), ".jsonl")
    yield from _files("hookline", directory, ".lec")


def _everywhere(homes: Homes) -> Iterator[Found]:
    """Agents that keep the sessions of all directories together: the newest of each."""
    gemini = os.path.join(homes.home, ".gemini", "tmp")
    copilot = os.path.join(moved("COPILOT_HOME", homes.environ, homes.home, ".copilot"), "session-state")
    letta = letta_conversations(homes.home)
    chats = (
        one for name in _names(gemini) for one in _files("gemini-cli", os.path.join(gemini, name, "chats"), ".json")
    )
    more = (
        one for name in _names(gemini) for one in _files("gemini-cli", os.path.join(gemini, name, "chats"), ".jsonl")
    )
    for found in (
        _codex(os.path.join(moved("CODEX_HOME", homes.environ, homes.home, ".codex"), "sessions")),
        [*chats, *more],
        _each("copilot-cli", copilot, "events.jsonl"),
        _each("letta-code", letta, "messages.jsonl"),
    ):
        yield from _newest(found)[:_LOOKED_AT]


def _codex(sessions: str) -> list[Found]:
    """A folder for each day on which sessions began: the last days, until there are enough."""
    found: list[Found] = []
    for year in _names(sessions):
        for month in _names(os.path.join(sessions, year)):
            for day in _names(os.path.join(sessions, year, month)):
                found += _files("codex", os.path.join(sessions, year, month, day), ".jsonl")
                if len(found) >= _LOOKED_AT:
                    return found
    return found


def _each(agent: str, base: str, file: str) -> Iterator[Found]:
    for name in _names(base):
        path = os.path.join(base, name, file)
        with suppress(OSError):
            yield Found(changed=os.stat(path).st_mtime, agent=agent, path=path)


def _files(agent: str, folder: str, ending: str) -> Iterator[Found]:
    try:
        with os.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(ending) and entry.is_file():
                    yield Found(changed=entry.stat().st_mtime, agent=agent, path=entry.path)
    except OSError:
        return


def _names(folder: str) -> list[str]:
    try:
        return sorted(os.listdir(folder), reverse=True)
    except OSError:
        return []


def _opencode(directories: tuple[str, ...], homes: Homes) -> list[Found]:
    """One database of all; the session of a subagent is part of another."""
    database = opencode_database(homes.home, homes.environ)
    if not os.path.isfile(database):
        return []
    from hookline.transcripts.opencode import sessions_of  # it brings SQLite

    return [
        Found(changed=changed, agent="opencode", path=f"{database}#{session}")
        for directory in directories
        for session, changed in sessions_of(database, directory)
    ]
