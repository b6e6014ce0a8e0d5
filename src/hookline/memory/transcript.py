"""Find the transcript of an event, and read it."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from typing import TYPE_CHECKING

from hookline.core.agents import AGENTS, ASSUMED, full_name
from hookline.core.files import open_without_waiting
from hookline.gateway.bypass import is_own_session
from hookline.transcripts import Homes, about, detect, read, reader_class, sessions_in, transcript_path
from hookline.transcripts.lines import lines, parse_record

if TYPE_CHECKING:
    from hookline.memory.context import HookContext
    from hookline.transcripts import About, SessionFile, TranscriptMessage

#: Sessions of a directory that are searched for one with a person.
_MAX_SESSIONS = 20
#: Names that versions of agents gave to the transcript's path.
_FIELDS = ("transcript_path", "transcriptPath", "input")


def find_transcript(context: HookContext) -> str:
    """The path that the agent gives, else its known place, else the newest transcript of this directory; "" for none.

    A path that the agent gives is used as it is: it is the agent's own file, wherever it is.
    """
    event = context.event
    given = [data.get(name) for data in (event.data, event.native) for name in _FIELDS]
    paths = [os.path.expanduser(path) for path in given if isinstance(path, str) and path and "\0" not in path]
    if paths:
        return next((path for path in paths if os.path.isfile(path)), "")
    data = {"session_id": event.session, **event.native, **event.data}
    return transcript_path(event.agent, data, context.here.home, event.environ) or _newest(context)


def _newest(context: HookContext) -> str:
    """In the agent's directory of this project, as lazy-harness does it, without our own model's sessions."""
    agent = full_name(context.event.agent)
    name = ASSUMED if agent in {"hookline", "native"} else agent
    row = AGENTS.get(name)
    if row is None or not row.newest_is_current:
        return ""
    found = sessions_in(context.here.cwd, _homes(context), (name,))
    return next((one.path for one in found if not _is_own(one.path, context)), "")


def _homes(context: HookContext) -> Homes:
    here, places = context.here, context.places
    return Homes(home=here.home, environ=here.environ, claude=places.agent, chats=places.chats)


def newest_session(context: HookContext) -> SessionFile | None:
    """The session used last in this directory by any agent, else in the repository's root.

    Sessions with a person come first; those of our own model do not count.
    """
    homes = _homes(context)
    for directory in dict.fromkeys((context.here.cwd, context.project.checkout or context.here.cwd)):
        found = [one for one in islice(sessions_in(directory, homes), _MAX_SESSIONS) if not _is_own(one.path, context)]
        if found:
            return next(
                (one for one in found if is_interactive(about(one.path, detect_agent(one.path, one.agent)))), found[0]
            )
    return None


def _is_own(path: str, context: HookContext) -> bool:
    """Whether the worker's own model process wrote it."""
    known = about(path, detect_agent(path, context.event.agent))
    first = next((message.text for message in read(path, known.agent) if message.role == "user"), "")
    return is_own_session(state=context.places.state, cwd=known.cwd, prompt=first)


def check_readable(path: str) -> None:
    """Readers skip what they cannot read, so an unreadable transcript would count as an empty session. Raises OSError."""
    file = path if os.path.lexists(path) else path.rpartition("#")[0] or path
    with open(file, "rb", opener=open_without_waiting) as transcript:
        transcript.read(1)


def detect_agent(path: str, agent: str) -> str:
    """The agent that wrote the records, by the records themselves where they show it."""
    return detect(path) or agent or ASSUMED


def is_interactive(known: About) -> bool:
    """Whether a person took part, as far as this agent's transcripts show."""
    row = AGENTS.get(known.agent)
    tells = known.agent == "hookline" or (row is not None and row.tells_interactive)  # our own chat has no row
    return known.interactive is True if tells else known.interactive is not False


def messages(path: str, agent: str) -> Iterator[TranscriptMessage]:
    """The messages; also of a file with bare ``role`` and ``content``, as some versions wrote it."""
    empty = True
    for message in read(path, agent):
        empty = False
        yield message
    if empty:
        reader = reader_class(ASSUMED)()
        for line in lines(path):
            record = parse_record(line.text)
            if record and record.get("role") in {"user", "assistant"}:
                shaped = {"type": record["role"], "message": record, "timestamp": record.get("timestamp", "")}
                yield from reader.messages(shaped)
