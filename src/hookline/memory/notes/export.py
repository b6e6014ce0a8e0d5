"""A session as a note that people and later sessions read.

A transcript of any length is read once, in flat memory. The same session has one note: it is written again only when
there is more in it.
"""

from __future__ import annotations

import os
import re
from contextlib import suppress
from datetime import datetime
from typing import IO, TYPE_CHECKING, Literal

from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import ASSUMED, find_agent
from hookline.core.files import UNFINISHED, atomic_writer, sweep
from hookline.gateway.bypass import is_own_session
from hookline.memory.distill.classification import classify
from hookline.memory.inject.git_facts import current_branch
from hookline.memory.inject.last_session import NoteSource, write_pointer
from hookline.memory.layout import make_private
from hookline.memory.notes.session_note import USER, front_matter, read_note
from hookline.memory.project import find_project
from hookline.memory.queue.task import short_id
from hookline.memory.transcript import check_readable, detect_agent, is_interactive, messages
from hookline.transcripts import about, modified_at

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.memory.context import HookContext
    from hookline.memory.project import Project
    from hookline.transcripts import About

#: Characters of messages that are held before they are written.
_AT_ONCE = 1 << 16
_Outcome = Literal["wrote", "short", "non-interactive", "unchanged", "ours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    outcome: _Outcome
    path: str = ""
    messages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """What the front matter says of it."""

    about: About
    cwd: str
    project: Project
    profile: str
    kind: str
    branch: str
    #: The transcript's time before it was read: while it is, it may grow or go.
    changed: float

    @property
    def id(self) -> str:
        return self.about.session

    @property
    def speaker(self) -> str:
        agent = find_agent(self.about.agent)
        return "Assistant" if agent is None else agent.speaker or agent.title

    @property
    def day(self) -> str:
        return self.date[:10]

    @property
    def date(self) -> str:
        return _moment(self.about.started)


def export(context: HookContext, path: str, *, force: bool = False) -> ExportResult:
    """``force``: however short it is, whoever sat there and whatever was written before. Raises OSError, StateError."""
    check_readable(path)
    session = _session(context, path)
    month = os.path.join(context.places.sessions, session.day[:7])
    make_private(month)
    body = os.path.join(month, f"{UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        handle = os.open(body, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w+", encoding="utf-8", errors="replace", newline="\n") as file:
            said = _Said(file, context.clean_all)
            said.write(path, session)
            reason = _why_not(context, session, said, force=force)
            if reason is not None:
                return ExportResult(outcome=reason, messages=said.count)
            target, before = _target(month, session)
            if not force and before is not None and before >= said.count:
                return ExportResult(outcome="unchanged", path=target, messages=said.count)
            head = context.clean(_head(session, said.count))
            _put_together(head, file, target)
    finally:
        with suppress(OSError):
            os.unlink(body)
    sweep(month)
    source = NoteSource(
        session=session.id, agent=session.about.agent, transcript=os.path.abspath(path), changed=session.changed
    )
    write_pointer(context.places, session.project, target, source=source)
    return ExportResult(outcome="wrote", path=target, messages=said.count)


def _session(context: HookContext, path: str) -> _Session:
    known = about(path, detect_agent(path, context.event.agent))
    name = os.path.basename(path).removesuffix(".jsonl").removesuffix(".json")
    session = known.session or context.event.session or name
    cwd = known.cwd if os.path.isabs(known.cwd) else context.here.cwd
    project = find_project(cwd)
    profile, kind = classify(context.settings, replace(context.here, cwd=cwd))
    branch = known.branch or (current_branch(project.checkout) if project.checkout else "")
    changed = modified_at(path)
    local = datetime.fromtimestamp(changed).astimezone().isoformat()
    started = known.started if _moment(known.started) else local
    return _Session(
        about=replace(known, session=session, started=started), cwd=cwd, project=project, profile=profile, kind=kind,
        branch=branch, changed=changed,
    )  # fmt: skip


class _Said:
    """What people and the agent said, written down as it is read."""

    def __init__(self, file: IO[str], clean_all: Callable[[list[str]], list[str]]) -> None:
        self.count = 0
        self.first_prompt = ""
        self._file, self._clean_all = file, clean_all
        self._held: list[tuple[str, str]] = []
        self._size = 0

    def write(self, path: str, session: _Session) -> None:
        for message in messages(path, session.about.agent):
            text = message.text.strip()
            if message.role not in {"user", "assistant"} or message.synthetic or not text:
                continue
            self.count += 1
            if message.role == "user" and not self.first_prompt:
                self.first_prompt = text[:200]
            self._held.append((USER if message.role == "user" else f"## {session.speaker}", text))
            self._size += len(text)
            if self._size > _AT_ONCE:
                self._flush()
        self._flush()

    def _flush(self) -> None:
        """Secrets are looked for in many messages at once, and taken out of each by itself."""
        texts = self._clean_all([text for _, text in self._held])
        pairs = zip(self._held, texts, strict=True)
        self._file.write("".join(f"\n{heading}\n\n{text}\n" for (heading, _), text in pairs))
        self._held, self._size = [], 0


def _why_not(context: HookContext, session: _Session, said: _Said, *, force: bool) -> _Outcome | None:
    if is_own_session(state=context.places.state, cwd=session.cwd, prompt=said.first_prompt):
        return "ours"
    if said.count < (1 if force else context.settings.knowledge.min_messages):
        return "short"
    return None if force or is_interactive(session.about) else "non-interactive"


def _target(month: str, session: _Session) -> tuple[str, int | None]:
    """The session's note and how many messages it has; another session may have the same first letters."""
    for name in (short_id(session.id), re.sub(r"[^A-Za-z0-9_-]", "_", session.id)[:100] or "unknown"):
        path = os.path.join(month, f"{session.day}-{name}.md")
        note = read_note(path)
        if note is None and not os.path.lexists(path):
            return path, None
        if note is not None and note.fields.get("session_id") == session.id:
            return path, note.messages
    return path, None


def _put_together(head: str, body: IO[str], target: str) -> None:
    """The front matter says how many messages follow, so it is written last and stands first. Atomic."""
    with atomic_writer(target) as file:
        file.write(head.encode("utf-8", "replace"))
        body.flush()
        body.seek(0)
        while part := body.read(1 << 20):
            file.write(part.encode("utf-8", "replace"))


def _head(session: _Session, count: int) -> str:
    return (
        f"{front_matter(_fields(session, count))}\n"
        f"# Session {session.date} — {session.project.name or session.kind}\n\n"
        f"**CWD:** {session.cwd} | **Project:** {session.project.name} | **Profile:** {session.profile}\n\n---\n"
    )


def _fields(session: _Session, count: int) -> dict[str, str | int]:
    return {
        "type": "claude-session" if session.about.agent == ASSUMED else "agent-session",
        "session_id": session.id,
        "date": session.date,
        "cwd": session.cwd,
        "project": session.project.name,
        "profile": session.profile,
        "session_type": session.kind,
        "branch": session.branch,
        # The document's name; for other agents it is their version.
        "claude_version": session.about.version,
        "messages": count,
        "agent": session.about.agent,
        "repository": session.project.folder,
    }


def _moment(text: str) -> str:
    """``YYYY-MM-DD HH:MM`` in the offset that the agent wrote; "" for what is no time."""
    try:
        return datetime.fromisoformat(text).isoformat(sep=" ", timespec="minutes")[:16]
    except ValueError:
        return ""
