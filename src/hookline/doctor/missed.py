"""Tool calls that no hook was asked about: the tool ran, but no PreToolUse was recorded.

A tool ran if its end was recorded, or if the agent's transcript has its result. Only sessions of agents that have
hookline registered for PreToolUse count.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any

from hookline.core._dataclass import dataclass
from hookline.core.agents import all_agents
from hookline.core.paths import project_root
from hookline.core.tool_names import canonical
from hookline.deploy.installed import find_registrations
from hookline.deploy.requirements import SCOPES, all_files
from hookline.dialects.event_lookup import native_events
from hookline.state.record.query import REPLAY
from hookline.state.record.store import Store
from hookline.transcripts import read, transcript_path
from hookline.transcripts.message import TranscriptMessage

#: Tools that every agent asks about before running them; only these count if they are in a transcript alone.
_GUARDED = frozenset({"Bash", "Write", "Edit", "WebFetch"})
#: How many sessions' transcripts are read, the latest first, and their maximum size.
_MOST_SESSIONS = 20
_MOST_BYTES = 32 << 20

_ASKED, _ENDED = "PreToolUse", ("PostToolUse", "PostToolUseFailure")


@dataclass(frozen=True, slots=True, kw_only=True)
class MissedGate:
    """Calls of one tool in one session that no hook was asked about."""

    agent: str
    session: str
    tool: str
    calls: int
    #: "record" or "transcript".
    seen_in: str

    def __str__(self) -> str:
        times = "once" if self.calls == 1 else f"{self.calls} times"
        where = "" if self.seen_in == "record" else ", according to its transcript"
        return f"{self.agent} ran {self.tool} {times} in session {self.session} without asking hookline{where}"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Call:
    event: str
    tool: str
    call: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    agent: str
    name: str
    cwd: str
    #: When the first of its events was recorded.
    since: float
    from_the_start: bool
    data: Mapping[str, Any]
    calls: Sequence[_Call]


def find_missed_gates(store: Store, since: float, home: str, environ: Mapping[str, str]) -> list[MissedGate]:
    """Since then, the latest last."""
    found: list[MissedGate] = []
    registered: dict[tuple[str, str], bool] = {}
    sessions = list(_sessions(store, since))
    for one in sessions:
        place = (one.agent, project_root(one.cwd, home))
        if place not in registered:
            registered[place] = _is_registered(*place, home)
        if not registered[place]:
            continue
        told = [*_by_record(one)]
        if not told and one in sessions[-_MOST_SESSIONS:]:
            told = [*_by_transcript(one, home, environ)]
        found += told
    return found


def _sessions(store: Store, since: float) -> Iterator[_Session]:
    rows = store.read(
        "SELECT session, agent, event, time, cwd, json_extract(data, '$.tool_name'),"
        " json_extract(data, '$.tool_use_id'), json_extract(data, '$.transcript_path'),"
        " json_extract(data, '$.conversation_id'), json_extract(data, '$.agent_id')"
        " FROM firings WHERE time >= ? AND session <> '' ORDER BY number",
        (since,),
    )
    by_session: dict[tuple[str, str], list[tuple[Any, ...]]] = {}
    for row in rows:
        if row[1] in all_agents() and not row[0].startswith(REPLAY):
            by_session.setdefault((row[1], row[0]), []).append(row)
    for (agent, name), all_of_it in by_session.items():
        calls = [
            _Call(event=row[2], tool=str(row[5] or ""), call=str(row[6] or ""))
            for row in all_of_it
            if row[2] == _ASKED or row[2] in _ENDED
        ]
        data = {"session_id": name}
        for field, column in (("transcript_path", 7), ("conversation_id", 8), ("agent_id", 9)):
            if told := next((row[column] for row in reversed(all_of_it) if row[column]), None):
                data[field] = str(told)
        yield _Session(
            agent=agent, name=name, cwd=all_of_it[0][4], since=all_of_it[0][3], data=data, calls=calls,
            from_the_start=any(row[2] == "SessionStart" for row in all_of_it),
        )  # fmt: skip


def _is_registered(agent: str, root: str, home: str) -> bool:
    target = all_agents()[agent]
    native = native_events(target)[_ASKED]
    files = (aim.path for aim in all_files([target], SCOPES, root, home))
    return any(entry.event == native for path in files for entry in find_registrations(path))


def _by_record(one: _Session) -> Iterator[MissedGate]:
    asked = [call for call in one.calls if call.event == _ASKED]
    ended = [call for call in one.calls if call.event in _ENDED]
    known = {call.call for call in asked}
    named = Counter(call.tool for call in ended if call.call and call.call not in known)
    # Calls without ids: there cannot be more ends than beginnings.
    nameless = Counter(call.tool for call in ended if not call.call)
    nameless.subtract(Counter(call.tool for call in asked if not call.call))
    for tool, count in (named + nameless).items():
        if count > 0:
            yield MissedGate(agent=one.agent, session=one.name, tool=tool, calls=count, seen_in="record")


def _by_transcript(one: _Session, home: str, environ: Mapping[str, str]) -> Iterator[MissedGate]:
    path = transcript_path(one.agent, one.data, home, environ)
    if not path or "#" in path or os.path.getsize(path) > _MOST_BYTES:
        return
    ran = [
        message for message in _finished_calls(path, one.agent) if one.from_the_start or _is_later(message, one.since)
    ]
    asked = [call for call in one.calls if call.event == _ASKED]
    names = {call.call for call in asked if call.call}
    if asked and not any(message.call in names for message in ran):
        return  # the transcript uses other ids for the same calls, so they cannot be matched
    missing = Counter(canonical(message.tool) for message in ran if message.call not in names)
    for tool, count in missing.items():
        if tool in _GUARDED:
            yield MissedGate(agent=one.agent, session=one.name, tool=tool, calls=count, seen_in="transcript")


def _finished_calls(path: str, agent: str) -> Iterator[TranscriptMessage]:
    """Calls with a successful result: a denied or invalid call has a failed one."""
    calls: dict[str, TranscriptMessage] = {}
    for message in read(path, agent):
        if message.role == "tool_call" and message.call:
            calls[message.call] = message
        elif message.role == "tool_result" and not message.failed and message.call in calls:
            yield calls.pop(message.call)


def _is_later(message: TranscriptMessage, since: float) -> bool:
    try:
        return datetime.fromisoformat(message.time).timestamp() > since
    except ValueError:
        return False
