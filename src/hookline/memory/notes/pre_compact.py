"""``pre-compact``: what was going on, kept before the conversation is compacted.

The whole transcript is copied for the person; a summary is left for the next session and for this one.
"""

from __future__ import annotations

import os
from collections import deque
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass
from hookline.core.errors import StateError
from hookline.core.files import replace_atomically
from hookline.core.result import Context, Reply
from hookline.memory.context import hook_context
from hookline.memory.dir_errors import describe
from hookline.memory.distill.digest import file_paths
from hookline.memory.layout import PRE_COMPACT_SUMMARY, make_private
from hookline.memory.logs import now_text
from hookline.memory.notes.backup import back_up
from hookline.memory.notes.summary import summary_header
from hookline.memory.transcript import detect_agent, file_stem, find_transcript, messages
from hookline.transcripts import about

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookline.core.event import Event
    from hookline.transcripts import Message

_NAME = "pre-compact"
#: A shorter message is "yes" or "go on".
_SHORTEST = 15
_LONGEST = 200
_TASKS = 5
_FILES = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class _WorkInProgress:
    """What the person asked for last, and which files were worked on."""

    tasks: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [("## Tasks in progress", self.tasks), ("## Files worked on", self.files)]
        return "\n\n".join("\n".join([title, *(f"- {one}" for one in lines)]) for title, lines in parts if lines)


def pre_compact(event: Event) -> Reply | None:
    context = hook_context(event, _NAME)
    if context is None:
        return None
    path = find_transcript(context)
    if not path:
        context.log("skipped: no transcript")
        return None
    session = event.session or about(path, detect_agent(path, event.agent)).session or file_stem(path)
    try:
        context.log(f"backup {back_up(context, path, session)}")
    except (OSError, StateError) as error:
        context.log(f"error: no backup: {describe(error, context.places)}")
    summary = context.clean(str(_working(messages(path, detect_agent(path, event.agent)))))
    if not summary:
        context.log("skipped: nothing to summarise")
        return None
    header = summary_header(now_text(), session)
    try:
        folder = make_private(context.places.memory(context.project))
        replace_atomically(os.path.join(folder, PRE_COMPACT_SUMMARY), f"{header}\n{summary}\n")
        context.log(f"wrote {PRE_COMPACT_SUMMARY}")
    except (OSError, StateError) as error:
        context.log(f"error: {PRE_COMPACT_SUMMARY} could not be written: {describe(error, context.places)}")
    return Reply(context=(Context(text=summary),))


def _working(said: Iterable[Message]) -> _WorkInProgress:
    """The last messages of the person that say something; of the files, sorted, the last."""
    tasks: deque[str] = deque(maxlen=_TASKS)
    files: set[str] = set()
    for message in said:
        if message.role == "user" and not message.synthetic:
            text = message.text.strip()
            if len(text) >= _SHORTEST:
                tasks.append(" ".join(text[:_LONGEST].split()))
        elif message.role == "tool_call":
            files.update(file_paths(message.input))
    return _WorkInProgress(tasks=tuple(tasks), files=tuple(sorted(files)[-_FILES:]))
