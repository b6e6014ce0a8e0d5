"""Read any agent's transcript: streaming, from any place in it, and never raising."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import islice
from types import MappingProxyType
from typing import cast

from hookline.core.agents import all_agents, find_agent, full_name
from hookline.transcripts.lines import file_size, line_start, records
from hookline.transcripts.message import About, TranscriptMessage
from hookline.transcripts.reader import SEARCHED, TranscriptReader

#: Our own: the chat's records are like Claude Code's, a conversation is a document.
_OWN = ("hookline.transcripts.lec:LecReader", "hookline.transcripts.claude:ChatReader")
_OWN_NAMES: Mapping[str, str] = MappingProxyType({"native": "hookline", "lectic": "hookline"})
#: The last to be asked whose a record is, since others write records that look like its.
_LAST = "hookline.transcripts.claude:ClaudeReader"

_TAIL = 256 * 1024


def read(path: str, agent: str = "") -> Iterator[TranscriptMessage]:
    """Everything that was said and done, oldest first. The content shows whose it is if ``agent`` is ""."""
    return (message for _end, message in read_from(path, 0, agent))


def read_from(path: str, start: int = 0, agent: str = "") -> Iterator[tuple[int, TranscriptMessage]]:
    """From byte ``start`` on, which must be one that this function gave, or 0.

    With every message comes the place from which to go on later: everything before it was given, and a line that is
    still being written was not.
    """
    reader = _reader(path, agent)
    return iter(()) if reader is None else reader.read(path, start)


def tail(path: str, agent: str = "", size: int = _TAIL) -> Iterator[TranscriptMessage]:
    """The messages in the last ``size`` bytes, whatever the length of the file."""
    reader = _reader(path, agent)
    return (message for _end, message in (() if reader is None else reader.tail(path, size)))


def tool_result(path: str, call: str, agent: str = "", size: int = _TAIL) -> TranscriptMessage | None:
    """The latest result of one tool call near the end of the file, as soon as the agent has noted it anywhere."""
    reader = _reader(path, agent)
    if reader is None or reader.owns(path):
        return None
    found: TranscriptMessage | None = None
    for _end, record in records(path, line_start(path, file_size(path) - size)):
        for message in (*reader.early(record), *reader.messages(record)):
            if message.call == call:
                # A call whose result is not there yet may have the name of an earlier one.
                found = message if message.role == "tool_result" else None
    return found


def about(path: str, agent: str = "") -> About:
    """What the beginning of the file says of the session."""
    reader = _reader(path, agent)
    return About(agent=_name(agent)) if reader is None else reader.about(path)


def detect(path: str) -> str:
    """The agent that wrote it, by its full name (``claude-code``, ``hookline``, …); "" if nobody is known to."""
    found = _detect(path)
    return "" if found is None else found.agent


def reader_class(agent: str, path: str = "") -> type[TranscriptReader]:
    """Of this agent; one that reads nothing where nobody has written any."""
    name = _name(agent)
    if name == "hookline":
        return next(reader for reader in map(_load, _OWN) if reader.owns(path) or reader is _load(_OWN[-1]))
    row = find_agent(name)
    return TranscriptReader if row is None or not row.reader else _load(row.reader)


@cache
def _load(where: str) -> type[TranscriptReader]:
    module, _, attribute = where.partition(":")
    return cast("type[TranscriptReader]", getattr(import_module(module), attribute))


def _name(agent: str) -> str:
    return _OWN_NAMES.get(agent, full_name(agent))


def _reader(path: str, agent: str) -> TranscriptReader | None:
    found = reader_class(agent, path) if agent else _detect(path)
    return None if found is None or found is TranscriptReader else found()


def _detect(path: str) -> type[TranscriptReader] | None:
    owner = next((reader for reader in _readers() if reader.owns(path)), None)
    if owner is not None:
        return owner
    first: type[TranscriptReader] | None = None
    for _end, record in islice(records(path, 0), SEARCHED):
        claimed = next((reader for reader in _readers() if reader.claims(record)), None)
        if claimed is not None and (claimed is not _load(_LAST) or record.get("type") != "permission-mode"):
            return claimed
        first = first or claimed  # our own chat begins like Claude Code's
    return first


@cache
def _readers() -> tuple[type[TranscriptReader], ...]:
    """In the order in which they are asked whose a file or a record is."""
    named = [*_OWN, *(agent.reader for agent in all_agents().values() if agent.reader not in {"", _LAST}), _LAST]
    return tuple(map(_load, named))
