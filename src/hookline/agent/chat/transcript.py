"""The transcript: one JSON line per record, appended at once, so that a killed session loses nothing.

The records have the shape that coding agents share (``type``, ``message``, ``uuid``, ``parentUuid``, …), so that
their readers can read ours. Lines are only appended; ``replay`` restores a conversation from them.
"""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, Self

from hookline import __version__
from hookline.core._dataclass import dataclass, field
from hookline.core.errors import StateError, UsageError
from hookline.core.files import open_locked
from hookline.core.git import read_head
from hookline.core.paths import private_dir, upwards


def chat_folder(data_dir: str, cwd: str) -> str:
    """One folder per working directory, named after it."""
    return os.path.join(data_dir, "chats", re.sub(r"[^A-Za-z0-9]", "-", cwd))


def timestamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


@dataclass(slots=True, kw_only=True)
class Transcript:
    """An open transcript, locked by its owner."""

    path: str
    session: str
    cwd: str
    #: Set for a subagent, whose records are a side chain of the conversation.
    agent_id: str = ""
    last: str | None = None
    _branch: str = ""
    _handle: int = field(default=-1, repr=False)

    @classmethod
    def open(cls, path: str, *, session: str, cwd: str, agent_id: str = "", last: str | None = None) -> Self:
        """Create or reopen it; a partial last line from a crash is removed."""
        private_dir(os.path.dirname(path))
        try:
            handle = open_locked(path, os.O_RDWR | os.O_CREAT | os.O_APPEND)
        except OSError as error:
            raise StateError(f"cannot write the transcript {path!r}: {error.strerror}") from error
        if handle is None:
            raise UsageError(f"the session {session} is open in another process; end that one first")
        _cut_torn_line(handle)
        return cls(
            path=path,
            session=session,
            cwd=cwd,
            agent_id=agent_id,
            last=last,
            _branch=current_branch(cwd),
            _handle=handle,
        )

    def append(self, kind: str, now: float, **fields: Any) -> str:
        """Append one record; its uuid."""
        name = str(uuid.uuid4())
        record: dict[str, Any] = {
            "parentUuid": self.last,
            "isSidechain": bool(self.agent_id),
            "type": kind,
            **fields,
            "uuid": name,
            "timestamp": timestamp(now),
            "sessionId": self.session,
            "cwd": self.cwd,
            "version": __version__,
            "gitBranch": self._branch,
            "userType": "external",
        }
        if self.agent_id:
            record["agentId"] = self.agent_id
        self.write(record)
        self.last = name
        return name

    def write(self, record: dict[str, Any]) -> None:
        """A line outside of the conversation's chain."""
        text = json.dumps(record, ensure_ascii=False, default=str) + "\n"
        view = memoryview(text.encode("utf-8", "replace"))
        try:
            while view:
                view = view[os.write(self._handle, view) :]
        except OSError as error:
            # The next record must not follow a partial line.
            _cut_torn_line(self._handle)
            raise StateError(f"cannot write the transcript {self.path!r}: {error.strerror}") from error

    def sync(self) -> None:
        """Sync to disk at the end of a turn, so that a power cut costs at most the current one."""
        if self._handle >= 0:
            try:
                os.fsync(self._handle)
            except OSError as error:
                raise StateError(f"cannot write the transcript {self.path!r}: {error.strerror}") from error

    def close(self) -> None:
        if self._handle >= 0:
            os.close(self._handle)
            self._handle = -1


def _cut_torn_line(handle: int) -> None:
    size = os.fstat(handle).st_size
    end = size
    while end > 0:
        start = max(0, end - 4096)
        chunk = os.pread(handle, end - start, start)
        place = chunk.rfind(b"\n")
        if place >= 0:
            end = start + place + 1
            break
        end = start
    if end != size:
        os.ftruncate(handle, end)


def current_branch(cwd: str) -> str:
    """The branch that is checked out; "" outside a repository."""
    head = next((found for folder in upwards(cwd) if (found := read_head(folder)) is not None), "")
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: ") else "HEAD" if head else ""


# ── finding a transcript ────────────────────────────────────────────────────────────────────────────────


def find(data_dir: str, cwd: str, wanted: str) -> str:
    """The transcript of a session, by its id or a prefix of it; this directory's come first."""
    here = chat_folder(data_dir, cwd)
    chats = os.path.join(data_dir, "chats")
    others = sorted(os.listdir(chats)) if os.path.isdir(chats) else []
    found: list[str] = []
    for folders in ([here], [os.path.join(chats, name) for name in others]):
        paths = [path for folder in folders for path in _transcripts(folder)]
        found = found or [path for path in paths if os.path.basename(path).startswith(wanted)]
    if not found:
        raise UsageError(f"there is no session {wanted!r}; see: ls {here}")
    if len(found) > 1:
        names = ", ".join(os.path.basename(path).removesuffix(".jsonl") for path in found[:5])
        raise UsageError(f"{wanted!r} matches several sessions: {names}; write more of the id")
    return found[0]


def latest(data_dir: str, cwd: str) -> str | None:
    """The transcript of this directory that was written last; None if there is none."""
    return max(_transcripts(chat_folder(data_dir, cwd)), key=os.path.getmtime, default=None)


def recent(data_dir: str, cwd: str, count: int = 10) -> list[str]:
    """The latest transcripts of this directory, newest first."""
    return sorted(_transcripts(chat_folder(data_dir, cwd)), key=os.path.getmtime, reverse=True)[:count]


def _transcripts(folder: str) -> Iterator[str]:
    try:
        names = os.listdir(folder)
    except OSError:
        return
    for name in names:
        if name.endswith(".jsonl"):
            yield os.path.join(folder, name)
