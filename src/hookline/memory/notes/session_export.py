"""``session-export``: after every turn, write the session as a note for people and later sessions.

A transcript of any length is read once, in constant memory. A session has one note, which is written again only when
there are more messages.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from contextlib import suppress
from datetime import datetime
from typing import IO, Literal

from hookline.core._dataclass import dataclass, replace
from hookline.core.agents import ASSUMED, find_agent
from hookline.core.errors import StateError
from hookline.core.event import Event
from hookline.core.files import UNFINISHED, atomic_writer, sweep
from hookline.gateway.bypass import is_own_session
from hookline.memory.alone import runs_alone
from hookline.memory.context import HookContext, hook_context
from hookline.memory.inject.git_facts import current_branch
from hookline.memory.inject.last_session import write_pointer
from hookline.memory.layout import describe_error, make_private
from hookline.memory.notes.front_matter import USER, front_matter, read_note
from hookline.memory.notes.qmd import start_update
from hookline.memory.project import Project, classify, find_project
from hookline.memory.queue.task import short_id
from hookline.memory.transcript import check_readable, detect_agent, find_transcript, is_interactive, messages
from hookline.transcripts import About, about, mtime

#: Characters of messages that are collected before they are written.
_BUFFER = 1 << 16
_Outcome = Literal["wrote", "short", "non-interactive", "unchanged", "ours"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExportResult:
    outcome: _Outcome
    path: str = ""
    messages: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Session:
    """The facts for the front matter."""

    about: About
    cwd: str
    project: Project
    profile: str
    kind: str
    branch: str
    #: The transcript's modification time before it was read: it may grow or go meanwhile.
    changed: float

    @property
    def id(self) -> str:
        return self.about.session

    @property
    def day(self) -> str:
        return self.date[:10]

    @property
    def date(self) -> str:
        return _minute(self.about.started)


def session_export(event: Event) -> None:
    """The built-in hook."""
    context = hook_context(event, "session-export")
    if context is None:
        return
    if not context.settings.knowledge.sessions_enabled:
        context.log("skipped: sessions are not kept")
        return
    if runs_alone(event):
        context.log("skipped: non-interactive")
        return
    path = find_transcript(context)
    if not path:
        context.log("skipped: no transcript")
        return
    try:
        done = export(context, path)
    except (OSError, StateError) as error:
        context.log(f"error: {path} could not be exported: {describe_error(error, context.places)}")
        return
    if done.outcome != "wrote":
        context.log(f"skipped: {done.outcome}")
        return
    context.log(f"wrote {done.path} ({done.messages} messages)")
    make_searchable(context, done.path)


def make_searchable(context: HookContext, path: str) -> None:
    """Index the note at the end of its turn, so that the next start has nothing to index."""
    from hookline.memory.notes.index import update_index  # it imports SQLite

    if why := update_index(context.places, context.clean, path):
        context.log(f"error: {why}")
    if context.settings.knowledge.search_engine == "qmd":
        start_update(context.event.environ, context.here.cwd)


def export(context: HookContext, path: str, *, force: bool = False) -> ExportResult:
    """``force``: also a short session, one without a person, and one that is already written. Raises OSError, StateError."""
    check_readable(path)
    session = _session(context, path)
    month = os.path.join(context.places.sessions, session.day[:7])
    make_private(month)
    body = os.path.join(month, f"{UNFINISHED}{os.getpid()}-{os.urandom(4).hex()}")
    try:
        handle = os.open(body, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(handle, "w+", encoding="utf-8", errors="replace", newline="\n") as file:
            writer = _MessageWriter(file, context.clean_all)
            writer.write(path, session, str(context.event.data.get("assistant_message") or "").strip())
            reason = _skip_reason(context, session, writer, force=force)
            if reason is not None:
                return ExportResult(outcome=reason, messages=writer.count)
            target, before = _target(month, session)
            if not force and before is not None and before >= writer.count:
                return ExportResult(outcome="unchanged", path=target, messages=writer.count)
            head = context.clean(_head(session, writer.count))
            _join(head, file, target)
    finally:
        with suppress(OSError):
            os.unlink(body)
    sweep(month)
    write_pointer(
        context.places, session.project, target, session=session.id, agent=session.about.agent,
        transcript=os.path.abspath(path), changed=session.changed,
    )  # fmt: skip
    return ExportResult(outcome="wrote", path=target, messages=writer.count)


def _session(context: HookContext, path: str) -> _Session:
    known = about(path, detect_agent(path, context.event.agent))
    name = os.path.basename(path).removesuffix(".jsonl").removesuffix(".json")
    session = known.session or context.event.session or name
    cwd = known.cwd if os.path.isabs(known.cwd) else context.here.cwd
    project = find_project(cwd)
    profile, kind = classify(context.settings, replace(context.here, cwd=cwd))
    branch = known.branch or (current_branch(project.checkout) if project.checkout else "")
    changed = mtime(path)
    local = datetime.fromtimestamp(changed).astimezone().isoformat()
    started = known.started if _minute(known.started) else local
    return _Session(
        about=replace(known, session=session, started=started), cwd=cwd, project=project, profile=profile, kind=kind,
        branch=branch, changed=changed,
    )  # fmt: skip


class _MessageWriter:
    """Writes the messages of people and the agent while the transcript is read."""

    def __init__(self, file: IO[str], clean_all: Callable[[list[str]], list[str]]) -> None:
        self.count = 0
        self.first_prompt = ""
        self._file, self._clean_all = file, clean_all
        self._buffer: list[tuple[str, str]] = []
        self._size = 0

    def write(self, path: str, session: _Session, answer: str) -> None:
        """``answer``: what the agent said last, which some only write to the transcript after their hooks."""
        agent = find_agent(session.about.agent)
        speaker = f"## {'Assistant' if agent is None else agent.speaker or agent.title}"
        heading = last = ""
        for message in messages(path, session.about.agent):
            text = message.text.strip()
            if message.role not in {"user", "assistant"} or message.synthetic or not text:
                continue
            if message.role == "user" and not self.first_prompt:
                self.first_prompt = text[:200]
            heading, last = (USER if message.role == "user" else speaker), text
            self._add(heading, text)
        if answer and (heading == USER or answer not in last):
            self._add(speaker, answer)
        self._flush()

    def _add(self, heading: str, text: str) -> None:
        self.count += 1
        self._buffer.append((heading, text))
        self._size += len(text)
        if self._size > _BUFFER:
            self._flush()

    def _flush(self) -> None:
        """Many messages are searched for secrets at once; each is redacted by itself."""
        texts = self._clean_all([text for _, text in self._buffer])
        pairs = zip(self._buffer, texts, strict=True)
        self._file.write("".join(f"\n{heading}\n\n{text}\n" for (heading, _), text in pairs))
        self._buffer, self._size = [], 0


def _skip_reason(context: HookContext, session: _Session, writer: _MessageWriter, *, force: bool) -> _Outcome | None:
    if is_own_session(state=context.places.state, cwd=session.cwd, prompt=writer.first_prompt):
        return "ours"
    if writer.count < (1 if force else context.settings.knowledge.min_messages):
        return "short"
    return None if force or is_interactive(session.about) else "non-interactive"


def _target(month: str, session: _Session) -> tuple[str, int | None]:
    """The session's note and its number of messages. Another session's id may begin with the same letters."""
    for name in (short_id(session.id), re.sub(r"[^A-Za-z0-9_-]", "_", session.id)[:100] or "unknown"):
        path = os.path.join(month, f"{session.day}-{name}.md")
        note = read_note(path)
        if note is None and not os.path.lexists(path):
            return path, None
        if note is not None and note.fields.get("session_id") == session.id:
            return path, note.messages
    return path, None


def _join(head: str, body: IO[str], target: str) -> None:
    """The front matter contains the number of messages, so it is written last and comes first."""
    with atomic_writer(target) as file:
        file.write(head.encode("utf-8", "replace"))
        body.flush()
        body.seek(0)
        while part := body.read(1 << 20):
            file.write(part.encode("utf-8", "replace"))


def _head(session: _Session, count: int) -> str:
    fields: dict[str, str | int] = {
        "type": "claude-session" if session.about.agent == ASSUMED else "agent-session",
        "session_id": session.id,
        "date": session.date,
        "cwd": session.cwd,
        "project": session.project.name,
        "profile": session.profile,
        "session_type": session.kind,
        "branch": session.branch,
        # lazy-harness's name; for other agents it is their version.
        "claude_version": session.about.version,
        "messages": count,
        "agent": session.about.agent,
        "repository": session.project.folder,
    }
    return (
        f"{front_matter(fields)}\n"
        f"# Session {session.date} — {session.project.name or session.kind}\n\n"
        f"**CWD:** {session.cwd} | **Project:** {session.project.name} | **Profile:** {session.profile}\n\n---\n"
    )


def _minute(text: str) -> str:
    """``YYYY-MM-DD HH:MM`` in the agent's offset; "" for a text that is not a time."""
    try:
        return datetime.fromisoformat(text).isoformat(sep=" ", timespec="minutes")[:16]
    except ValueError:
        return ""
