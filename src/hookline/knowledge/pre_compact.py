"""``pre-compact``: what was going on, kept before the conversation is compacted.

The whole transcript is copied for the person; a summary is left for the next session and for this one.
"""

from __future__ import annotations

import os
from collections import deque
from contextlib import suppress
from datetime import datetime
from time import time
from typing import TYPE_CHECKING

from hookline.dataclass import dataclass
from hookline.errors import StateError
from hookline.knowledge.clean_copy import copy_clean, copy_lines
from hookline.knowledge.digest import paths_in
from hookline.knowledge.logs import now_text
from hookline.knowledge.places import PRE_COMPACT_SUMMARY, make_private
from hookline.knowledge.scene import scene_of
from hookline.knowledge.summary import head as summary_head
from hookline.knowledge.transcript import find_transcript, messages, whose
from hookline.knowledge.trouble import told
from hookline.knowledge.whole_file import UNFINISHED, prune, sweep, write_whole
from hookline.paths import private_dir
from hookline.result import Context, Reply
from hookline.transcripts.as_lines import as_lines

if TYPE_CHECKING:
    from collections.abc import Iterable

    from hookline.event import Event
    from hookline.knowledge.scene import Scene
    from hookline.transcripts import Message

NAME = "pre-compact"
#: A shorter message is "yes" or "go on".
SHORTEST = 15
LONGEST = 200
TASKS = 5
FILES = 10
#: Copies of transcripts that are kept, whatever their age.
BACKUPS = 50
#: Letters of the moment at which a copy was made, in its name.
_STAMP = len("20260412-183200-")


@dataclass(frozen=True, slots=True, kw_only=True)
class Working:
    """What the person asked for last, and which files were worked on."""

    tasks: tuple[str, ...] = ()
    files: tuple[str, ...] = ()

    def __str__(self) -> str:
        parts = [("## Tasks in progress", self.tasks), ("## Files worked on", self.files)]
        return "\n\n".join("\n".join([title, *(f"- {one}" for one in lines)]) for title, lines in parts if lines)


def pre_compact(event: Event) -> Reply | None:
    scene = scene_of(event, NAME)
    if scene is None:
        return None
    path = find_transcript(scene)
    if not path:
        scene.log("skipped: no transcript")
        return None
    try:
        scene.log(f"backup {_backed_up(scene, path)}")
    except (OSError, StateError) as error:
        scene.log(f"error: no backup: {told(error, scene.places)}")
    summary = scene.clean(str(working(messages(path, whose(path, event.agent)))))
    if not summary:
        scene.log("skipped: nothing to summarise")
        return None
    head = summary_head(now_text(), event.session)
    try:
        folder = make_private(scene.places.memory(scene.project))
        write_whole(os.path.join(folder, PRE_COMPACT_SUMMARY), f"{head}\n{summary}\n")
        scene.log(f"wrote {PRE_COMPACT_SUMMARY}")
    except (OSError, StateError) as error:
        scene.log(f"error: {PRE_COMPACT_SUMMARY} could not be written: {told(error, scene.places)}")
    return Reply(context=(Context(text=summary),))


def working(said: Iterable[Message]) -> Working:
    """The last messages of the person that say something; of the files, sorted, the last."""
    tasks: deque[str] = deque(maxlen=TASKS)
    files: set[str] = set()
    for message in said:
        if message.role == "user" and not message.synthetic:
            text = message.text.strip()
            if len(text) >= SHORTEST:
                tasks.append(" ".join(text[:LONGEST].split()))
        elif message.role == "tool_call":
            files.update(paths_in(message.input))
    return Working(tasks=tuple(tasks), files=tuple(sorted(files)[-FILES:]))


def _backed_up(scene: Scene, path: str) -> str:
    """A copy as the agent wrote it but for secrets, which only the person can read. Raises OSError and StateError."""
    folder = private_dir(scene.places.compact_backups)
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name = f"{stamp}-{scene.project.folder.rpartition('-')[0]}"
    fresh = os.path.join(folder, f"{UNFINISHED}{os.getpid()}-{name}")
    try:
        handle = os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        with open(handle, "wb") as copy:
            if os.path.isfile(path):
                with open(path, "rb") as transcript:
                    copy_clean(transcript, copy, scene.redactor)
            else:  # a session in a database
                copy_lines(as_lines(path), copy, scene.redactor)
        target = _free(folder, name)
        os.replace(fresh, target)
    except BaseException:
        with suppress(OSError):
            os.unlink(fresh)
        raise
    sweep(folder)
    if scene.event.agent == "gemini-cli" and scene.event.data.get("trigger") == "auto":
        _drop_beginnings(folder, name[_STAMP:], target)
    prune(folder, keep=BACKUPS, days=scene.settings.knowledge.keep_days, now=time())
    return target


def _drop_beginnings(folder: str, project: str, newest: str) -> None:
    """Gemini CLI fires its event before every call of the model, whether it compacts or not: of copies that only grew,
    the last one says it all, and the others would push out those of real compactions."""
    with suppress(OSError):
        for name in os.listdir(folder):
            path, of_project = os.path.join(folder, name), name[_STAMP:].startswith(project)
            if path != newest and of_project and _begins(newest, path):
                os.unlink(path)


def _begins(path: str, beginning: str) -> bool:
    """Raises OSError."""
    with open(path, "rb") as whole, open(beginning, "rb") as part:
        while block := part.read(1 << 20):
            if whole.read(len(block)) != block:
                return False
    return True


def _free(folder: str, name: str) -> str:
    """Two compactions within a second are two copies."""
    number = 1
    while True:
        more = f"-{number}" if number > 1 else ""
        path = os.path.join(folder, f"{name}{more}.jsonl")
        if not os.path.lexists(path):
            return path
        number += 1
