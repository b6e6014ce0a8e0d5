"""``pre-compact``: before an agent compacts a conversation, copy the transcript and summarise it.

A copy has no secrets, and is otherwise what the agent wrote. It is for people; nothing here reads it.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import datetime
from time import time

from hookline.core.agents import find_agent
from hookline.core.errors import StateError
from hookline.core.event import Event
from hookline.core.files import atomic_writer, list_names, prune, read_text, replace_atomically, sweep
from hookline.core.paths import private_dir
from hookline.core.result import Context, Reply
from hookline.memory.context import HookContext, hook_context, now_text
from hookline.memory.distill.digest import file_paths
from hookline.memory.layout import PRE_COMPACT_SUMMARY, describe_error, make_private
from hookline.memory.project import safe_name
from hookline.memory.transcript import detect_agent, find_transcript, messages
from hookline.state.record.redact import copy_redacted, redact_line
from hookline.transcripts import TranscriptMessage, about
from hookline.transcripts.reading import as_lines

#: Copies that are kept, whatever their age.
_MAX_BACKUPS = 50
#: Suffix of the file beside the folder that names the sessions of copies that do not name it themselves.
_OWNERS = ".sessions"
#: Length of the time at the beginning of a copy's name.
_STAMP = len("20260412-183200-")


def _back_up(context: HookContext, path: str, session: str) -> str:
    """Copy the transcript into a private file; its path. Raises OSError and StateError."""
    folder = private_dir(context.places.compact_backups)
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name = f"{stamp}-{safe_name(context.project.name)}"
    target = _free_name(folder, name)
    with atomic_writer(target, durable=False) as copy:
        if os.path.isfile(path):
            with open(path, "rb") as transcript:
                copy_redacted(transcript, copy, context.redactor)
        else:  # a session in a database
            copy.writelines(redact_line(line, context.redactor) for line in as_lines(path))
    sweep(folder)
    agent = find_agent(context.event.agent)
    if agent is not None and agent.compacts_always and context.event.data.get("trigger") == "auto":
        _remove_prefixes(folder, name[_STAMP:], target)
    prune(folder, keep=_MAX_BACKUPS, days=context.settings.knowledge.keep_days, now=time())
    if not _session_in(target):  # not in the copy, which should be what the agent wrote
        kept = {one: owner for one, owner in _owners(folder).items() if os.path.lexists(os.path.join(folder, one))}
        owners = {**kept, os.path.basename(target): session}
        replace_atomically(folder + _OWNERS, json.dumps(owners), durable=False)
    return target


def backups(folder: str) -> Iterator[tuple[str, str]]:
    """Every copy, and its session."""
    owners = _owners(folder)
    for name in list_names(folder):
        if not name.startswith("."):
            path = os.path.join(folder, name)
            yield path, _session_in(path) or owners.get(name, "")


def forget_backups(folder: str, session: str) -> int:
    """Remove the session's copies and its name; how many copies. Raises OSError."""
    gone = [path for path, owner in backups(folder) if owner == session]
    for path in gone:
        with suppress(FileNotFoundError):
            os.unlink(path)
    if session in (owners := _owners(folder)).values():
        kept = {name: owner for name, owner in owners.items() if owner != session}
        replace_atomically(folder + _OWNERS, json.dumps(kept))
    return len(gone)


def _session_in(path: str) -> str:
    return about(path, detect_agent(path, "")).session


def _owners(folder: str) -> dict[str, str]:
    try:
        found = json.loads(read_text(folder + _OWNERS) or "{}")
    except (ValueError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {name: session for name, session in pairs if isinstance(session, str)}


def _remove_prefixes(folder: str, project: str, newest: str) -> None:
    """Such an agent fires its event before every model call, whether it compacts or not. A copy that the newest one
    continues is redundant, and would push out those of real compactions."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path, of_project = os.path.join(folder, name), name[_STAMP:].startswith(project)
            if path != newest and of_project and _is_prefix(path, newest):
                os.unlink(path)


def _is_prefix(beginning: str, path: str) -> bool:
    """Raises OSError."""
    with open(path, "rb") as whole, open(beginning, "rb") as part:
        while block := part.read(1 << 20):
            if whole.read(len(block)) != block:
                return False
    return True


def _free_name(folder: str, name: str) -> str:
    """Two compactions within a second are two copies."""
    number = 1
    while True:
        path = os.path.join(folder, f"{name}{f'-{number}' if number > 1 else ''}.jsonl")
        if not os.path.lexists(path):
            return path
        number += 1


#: A shorter message is "yes" or "go on".
_MIN_PROMPT = 15
_MAX_PROMPT = 200
_MAX_TASKS = 5
_MAX_FILES = 10


def pre_compact(event: Event) -> Reply | None:
    context = hook_context(event, "pre-compact")
    if context is None:
        return None
    path = find_transcript(context)
    if not path:
        context.log("skipped: no transcript")
        return None
    agent = detect_agent(path, event.agent)
    session = event.session or about(path, agent).session or os.path.splitext(os.path.basename(path))[0]
    try:
        context.log(f"backup {_back_up(context, path, session)}")
    except (OSError, StateError) as error:
        context.log(f"error: no backup: {describe_error(error, context.places)}")
    summary = context.clean(_summary(messages(path, agent)))
    if not summary:
        context.log("skipped: nothing to summarise")
        return None
    try:
        folder = make_private(context.places.memory(context.project))
        header = summary_header(now_text(), session)
        replace_atomically(os.path.join(folder, PRE_COMPACT_SUMMARY), f"{header}\n{summary}\n")
        context.log(f"wrote {PRE_COMPACT_SUMMARY}")
    except (OSError, StateError) as error:
        context.log(f"error: {PRE_COMPACT_SUMMARY} could not be written: {describe_error(error, context.places)}")
    return Reply(context=(Context(text=summary),))


def _summary(conversation: Iterable[TranscriptMessage]) -> str:
    """The person's last prompts, and the last of the files that were worked on, sorted."""
    tasks: deque[str] = deque(maxlen=_MAX_TASKS)
    files: set[str] = set()
    for message in conversation:
        if message.role == "user" and not message.synthetic:
            text = message.text.strip()
            if len(text) >= _MIN_PROMPT:
                tasks.append(" ".join(text[:_MAX_PROMPT].split()))
        elif message.role == "tool_call":
            files.update(file_paths(message.input))
    parts = [("## Tasks in progress", tasks), ("## Files worked on", sorted(files)[-_MAX_FILES:])]
    return "\n\n".join("\n".join([title, *(f"- {one}" for one in lines)]) for title, lines in parts if lines)


def summary_header(moment: str, session: str) -> str:
    """The first line of the file: a comment with the time and the session. No session name can end the comment."""
    name = json.dumps(session).replace("-->", "--\\u003e")
    return f"<!-- generated {moment} session {name} -->"


def summary_session(header: str) -> str:
    """The session in the first line; "" where it names none, as in lazy-harness's files."""
    name = header.partition(" session ")[2].removesuffix("-->").strip()
    try:
        session = json.loads(name) if name else ""
    except ValueError:
        return ""
    return session if isinstance(session, str) else ""
