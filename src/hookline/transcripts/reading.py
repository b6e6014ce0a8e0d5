"""Read any agent's transcript as a stream, from any place in it, and find the sessions of a directory. Never raises."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from importlib import import_module
from itertools import islice
from types import MappingProxyType
from typing import Any, cast

from hookline.core.agents import all_agents, find_agent, full_name
from hookline.transcripts.lines import file_size, line_start, records
from hookline.transcripts.message import About, TranscriptMessage, table, words
from hookline.transcripts.paths import Homes, SessionFile, files_in
from hookline.transcripts.reader import SEARCHED, TranscriptReader

#: Our own: the chat's records are like Claude Code's, a conversation is a document.
_OWN = ("hookline.transcripts.lec:LecReader", "hookline.transcripts.claude:ChatReader")
_OWN_NAMES: Mapping[str, str] = MappingProxyType({"native": "hookline", "lectic": "hookline"})
#: Checked last, since other agents write similar records.
_LAST = "hookline.transcripts.claude:ClaudeReader"

_TAIL = 256 * 1024


def read(path: str, agent: str = "") -> Iterator[TranscriptMessage]:
    """All messages, oldest first. With ``agent`` "" the content decides whose transcript it is."""
    return (message for _end, message in read_from(path, 0, agent))


def read_from(path: str, start: int = 0, agent: str = "") -> Iterator[tuple[int, TranscriptMessage]]:
    """From ``start`` on: 0, or a place that this function returned.

    Each message comes with the place from which to continue later. A line that is still being written is not before it.
    """
    reader = _reader(path, agent)
    return iter(()) if reader is None else reader.read(path, start)


def tail(path: str, agent: str = "", size: int = _TAIL) -> Iterator[TranscriptMessage]:
    """The messages in the last ``size`` bytes, whatever the length of the file."""
    reader = _reader(path, agent)
    return (message for _end, message in (() if reader is None else reader.tail(path, size)))


def tool_result(path: str, call: str, agent: str = "", size: int = _TAIL) -> TranscriptMessage | None:
    """The latest result of one tool call near the end of the file, also if it is recorded outside of a message."""
    reader = _reader(path, agent)
    if reader is None or reader.owns(path):
        return None
    found: TranscriptMessage | None = None
    for _end, record in records(path, line_start(path, file_size(path) - size)):
        for message in (*reader.early(record), *reader.messages(record)):
            if message.call == call:
                # A new call without a result may reuse an earlier id.
                found = message if message.role == "tool_result" else None
    return found


def last_model(path: str) -> str:
    """The model that wrote the latest answer, with its provider if that is recorded; "" if no model is."""
    found = ""
    for _end, record in records(path, line_start(path, file_size(path) - _TAIL)) if path else ():
        for part in (record, table(record.get("data")), table(record.get("message"))):
            provider, model = words(part.get("provider")), words(part.get("model"))
            if model and not model.startswith("<"):  # Claude Code writes messages of its own
                found = f"{provider}/{model}" if provider else model
    return found


def about(path: str, agent: str = "") -> About:
    """What the beginning of the file records about the session."""
    reader = _reader(path, agent)
    return About(agent=_name(agent)) if reader is None else reader.about(path)


def detect(path: str) -> str:
    """The full name of the agent that wrote it (``claude-code``, ``hookline``, …); "" if it is unknown."""
    found = _detect(path)
    return "" if found is None else found.agent


def reader_class(agent: str, path: str = "") -> type[TranscriptReader]:
    """This agent's reader; one that reads nothing if the agent has none."""
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
    """In the order in which they are tried."""
    named = [*_OWN, *(agent.reader for agent in all_agents().values() if agent.reader not in {"", _LAST}), _LAST]
    return tuple(map(_load, named))


def as_lines(path: str, agent: str = "") -> Iterator[bytes]:
    """One line per message. Never raises: what cannot be read has no line."""
    known = about(path, agent)
    head = {"sessionId": known.session, "cwd": known.cwd, "version": known.version, "entrypoint": known.agent}
    for message in read(path, agent):
        record = {**head, "timestamp": message.time, **_record(message)}
        yield json.dumps(record, ensure_ascii=False, default=dict).encode("utf-8", "replace") + b"\n"


def _record(message: TranscriptMessage) -> dict[str, Any]:
    match message.role:
        case "tool_call":
            block = {"type": "tool_use", "id": message.call, "name": message.tool, "input": dict(message.input)}
            return {"type": "assistant", "message": {"role": "assistant", "content": [block]}}
        case "tool_result":
            result = {"type": "tool_result", "tool_use_id": message.call, "content": message.text}
            content = [{**result, "is_error": message.failed}]
            return {"type": "user", "message": {"role": "user", "content": content}}
        case role:
            content = [{"type": "text", "text": message.text}]
            return {"type": role, "isMeta": message.synthetic, "message": {"role": role, "content": content}}


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
