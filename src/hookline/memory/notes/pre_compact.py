"""``pre-compact``: save the state of the work before the agent compacts the conversation.

The transcript is copied for the person. A summary is left for this session and the next.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import Iterable
from typing import TYPE_CHECKING

from hookline.core.errors import StateError
from hookline.core.files import replace_atomically
from hookline.core.result import Context, Reply
from hookline.memory.context import hook_context
from hookline.memory.dir_errors import describe
from hookline.memory.distill.digest import file_paths
from hookline.memory.layout import PRE_COMPACT_SUMMARY, make_private
from hookline.memory.logs import now_text
from hookline.memory.notes.backup import back_up
from hookline.memory.transcript import detect_agent, file_stem, find_transcript, messages
from hookline.transcripts import about

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.transcripts import TranscriptMessage

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
    session = event.session or about(path, agent).session or file_stem(path)
    try:
        context.log(f"backup {back_up(context, path, session)}")
    except (OSError, StateError) as error:
        context.log(f"error: no backup: {describe(error, context.places)}")
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
        context.log(f"error: {PRE_COMPACT_SUMMARY} could not be written: {describe(error, context.places)}")
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
