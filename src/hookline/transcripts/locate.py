"""The sessions of a directory, of any agent, the one that was used last first.

Some agents have a folder per directory. Others keep all sessions in one place and record the directory in each: of
those, only the newest are opened.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator

from hookline.core.agents import all_agents
from hookline.transcripts.paths import Homes, SessionFile, files_in
from hookline.transcripts.reading import about, reader_class

#: Transcripts of one agent that are opened, the newest first.
_MAX_OPENED = 100


def sessions_in(directory: str, homes: Homes, agents: Iterable[str] | None = None) -> Iterator[SessionFile]:
    """Of these agents or of all, the newest first. Never raises: what cannot be read is skipped."""
    names = tuple(dict.fromkeys((os.path.realpath(directory), os.path.abspath(directory))))
    found: list[SessionFile] = []
    for agent in all_agents() if agents is None else agents:
        found += _newest(reader_class(agent).sessions(names, homes))
    if agents is None:
        found += (one for name in names for one in _own(name, homes))
    for one in sorted(set(found), key=_age, reverse=True):
        if one.certain or os.path.realpath(about(one.path, one.agent).cwd or "/") == names[0]:
            yield one


def _newest(found: Iterable[SessionFile]) -> Iterator[SessionFile]:
    """All that are certain, and the newest of the others."""
    others = 0
    for one in sorted(set(found), key=_age, reverse=True):
        others += not one.certain
        if one.certain or others <= _MAX_OPENED:
            yield one


def _age(one: SessionFile) -> tuple[float, str]:
    return one.modified, one.path


def _own(directory: str, homes: Homes) -> Iterator[SessionFile]:
    """Our chats, and the conversation files in the directory itself."""
    yield from files_in("hookline", os.path.join(homes.chats, re.sub(r"[^A-Za-z0-9]", "-", directory)), ".jsonl")
    yield from files_in("hookline", directory, ".lec")
