"""Read any agent's transcript: streaming, from any place in it, and never raising."""

from __future__ import annotations

from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING

from hookline.transcripts.claude import ChatReader, ClaudeReader
from hookline.transcripts.codex import CodexReader
from hookline.transcripts.copilot import CopilotReader
from hookline.transcripts.gemini import GeminiReader
from hookline.transcripts.lec import LecReader, is_lec
from hookline.transcripts.letta import LettaReader
from hookline.transcripts.lines import document_of, line_start, lines, record_of, size_of
from hookline.transcripts.message import About
from hookline.transcripts.opencode import OpenCodeReader, is_database
from hookline.transcripts.qwen import QwenReader
from hookline.transcripts.sidecar import with_what_stands_beside

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from typing import Any

    from hookline.transcripts.lines import Line
    from hookline.transcripts.message import Message
    from hookline.transcripts.reader import Reader

#: In the order in which they are asked whose a record is; our own chat writes records like Claude Code's.
_READERS: tuple[type[Reader], ...] = (
    ChatReader, QwenReader, CodexReader, CopilotReader, LettaReader, GeminiReader, ClaudeReader,
)  # fmt: skip
READERS: Mapping[str, type[Reader]] = MappingProxyType({reader.agent: reader for reader in _READERS})
#: The names of dialects do as well.
_SHORT: Mapping[str, str] = MappingProxyType(
    {"claude": "claude-code", "gemini": "gemini-cli", "qwen": "qwen-code", "copilot": "copilot-cli",
     "letta": "letta-code", "native": "hookline", "lectic": "hookline"}
)  # fmt: skip

#: How far into a file it is looked for what it is and what it is about.
_LOOK = 400
_TAIL = 256 * 1024


def read(path: str, agent: str = "") -> Iterator[Message]:
    """Everything that was said and done, oldest first. Whose it is is guessed from the content if ``agent`` is ""."""
    return (message for _end, message in read_from(path, 0, agent))


def read_from(path: str, start: int = 0, agent: str = "") -> Iterator[tuple[int, Message]]:
    """From byte ``start`` on, which must be one that this function gave, or 0. With every message comes the place
    from which to go on later: all that stands before it has been told, and a line that is still being written has not.
    """
    reader = _reader(path, agent)
    if isinstance(reader, LecReader | OpenCodeReader):
        yield from reader.read(path, start)
    elif reader is not None:
        yield from _told(reader, _records(path, start), start)


def tail(path: str, agent: str = "", size: int = _TAIL) -> Iterator[Message]:
    """The messages in the last ``size`` bytes, whatever the length of the file."""
    reader = _reader(path, agent)
    if isinstance(reader, LecReader | OpenCodeReader):
        yield from (message for _end, message in reader.read(path, 0))
    elif reader is not None:
        start = line_start(path, size_of(path) - size)
        yield from (message for _end, message in _told(reader, _records(path, start), start))


def result_of(path: str, call: str, agent: str = "", size: int = _TAIL) -> Message | None:
    """The latest result of one tool call near the end of the file, as soon as the agent has noted it anywhere."""
    reader = _reader(path, agent)
    if reader is None or isinstance(reader, LecReader | OpenCodeReader):
        return None
    found: Message | None = None
    for _end, record in _records(path, line_start(path, size_of(path) - size)):
        for message in (*reader.early(record), *reader.messages(record)):
            if message.call == call:
                # A call whose result is not there yet may have the name of an earlier one.
                found = message if message.role == "tool_result" else None
    return found


def about(path: str, agent: str = "") -> About:
    """What the beginning of the file says of the session."""
    reader = _reader(path, agent)
    if isinstance(reader, OpenCodeReader):
        return reader.about(path)
    if reader is None or isinstance(reader, LecReader):
        return About(agent="hookline" if reader else _SHORT.get(agent, agent))
    known = About(agent=reader.agent)
    for _end, record in islice(_records(path, 0), _LOOK):
        known = reader.about(record, known)
        if known.session and known.cwd and known.interactive is not None:
            break
    return with_what_stands_beside(path, known)


def detect(path: str) -> str:
    """The agent that wrote it, by its full name (``claude-code``, ``hookline``, …); "" if nobody is known to."""
    if is_lec(path):
        return "hookline"
    if is_database(path):
        return "opencode"
    found = ""
    for _end, record in islice(_records(path, 0), _LOOK):
        claimed = next((reader.agent for reader in _READERS if reader.claims(record)), "")
        if claimed and (claimed != "claude-code" or record.get("type") != "permission-mode"):
            return claimed
        found = found or claimed  # our own chat begins like Claude Code's
    return found


def _reader(path: str, agent: str) -> Reader | LecReader | OpenCodeReader | None:
    wanted = _SHORT.get(agent, agent)
    if wanted in {"", "opencode"} and is_database(path):
        return OpenCodeReader()
    if wanted in {"", "hookline"} and is_lec(path):
        return LecReader()
    made = READERS.get(wanted or detect(path))
    return None if made is None else made()


def _told(reader: Reader, records: Iterator[tuple[int, dict[str, Any]]], start: int) -> Iterator[tuple[int, Message]]:
    before = place = start
    for end, record in records:
        before, place = place, end
        found = tuple(reader.messages(record))
        for message in found:
            yield (before if reader.holding else place), message
    for message in reader.rest():
        yield place, message


def _records(path: str, start: int) -> Iterator[tuple[int, dict[str, Any]]]:
    """What can be read, with the place after it. A last line that is not whole counts if it can be read."""
    for number, line in enumerate(lines(path, start)):
        record = record_of(line.text) if line.text.strip() else None
        if record is not None:
            yield line.end, record
        elif number == 0 and start == 0 and _opens_document(line):
            whole = document_of(path)
            if whole is not None:
                yield size_of(path), whole
                return


def _opens_document(line: Line) -> bool:
    return line.text.strip() in {b"{", b"\xef\xbb\xbf{"}
