"""Copies of transcripts, made before an agent compacts a conversation. Nothing here relies on them; a person may."""

from __future__ import annotations

import json
import os
from contextlib import suppress
from datetime import datetime
from time import time
from typing import TYPE_CHECKING

from hookline.core.agents import find_agent
from hookline.core.files import atomic_writer, prune, read_text, replace_atomically, sweep
from hookline.core.paths import private_dir
from hookline.memory.notes.clean_copy import copy_clean, copy_lines
from hookline.memory.project import safe_name
from hookline.memory.transcript import detect_agent
from hookline.transcripts import about
from hookline.transcripts.as_lines import as_lines

if TYPE_CHECKING:
    from collections.abc import Iterator

    from hookline.memory.context import HookContext

#: Copies that are kept, whatever their age.
_BACKUPS = 50
#: Ends the name of the file, beside the folder, that says whose those copies are that do not say it themselves.
_OWNERS = ".sessions"
#: Letters of the moment at which a copy was made, in its name.
_STAMP = len("20260412-183200-")


def back_up(context: HookContext, path: str, session: str) -> str:
    """A copy as the agent wrote it but for secrets, which only the person can read; where it lies. Raises OSError and
    StateError."""
    folder = private_dir(context.places.compact_backups)
    stamp = datetime.now().astimezone().strftime("%Y%m%d-%H%M%S")
    name = f"{stamp}-{safe_name(context.project.name)}"
    target = _free(folder, name)
    with atomic_writer(target, durable=False) as copy:
        if os.path.isfile(path):
            with open(path, "rb") as transcript:
                copy_clean(transcript, copy, context.redactor)
        else:  # a session in a database
            copy_lines(as_lines(path), copy, context.redactor)
    sweep(folder)
    agent = find_agent(context.event.agent)
    if agent is not None and agent.compacts_always and context.event.data.get("trigger") == "auto":
        _drop_beginnings(folder, name[_STAMP:], target)
    prune(folder, keep=_BACKUPS, days=context.settings.knowledge.keep_days, now=time())
    if not _said_in(target):
        _note(folder, os.path.basename(target), session)
    return target


def backups(folder: str) -> Iterator[tuple[str, str]]:
    """Every copy, and whose it is."""
    noted = _noted(folder)
    with suppress(OSError):
        for name in sorted(os.listdir(folder)):
            if not name.startswith("."):
                path = os.path.join(folder, name)
                yield path, _said_in(path) or noted.get(name, "")


def forget_backups(folder: str, session: str) -> int:
    """Remove the session's copies, and that they were; how many. Raises OSError."""
    gone = [path for path, whom in backups(folder) if whom == session]
    for path in gone:
        with suppress(FileNotFoundError):
            os.unlink(path)
    if session in (noted := _noted(folder)).values():
        kept = {name: whom for name, whom in noted.items() if whom != session}
        replace_atomically(folder + _OWNERS, json.dumps(kept))
    return len(gone)


def _said_in(path: str) -> str:
    return about(path, detect_agent(path, "")).session


def _noted(folder: str) -> dict[str, str]:
    try:
        found = json.loads(read_text(folder + _OWNERS) or "{}")
    except (ValueError, RecursionError):
        return {}
    pairs = found.items() if isinstance(found, dict) else ()
    return {name: session for name, session in pairs if isinstance(session, str)}


def _note(folder: str, name: str, session: str) -> None:
    """Not in the copy, which is to be what the agent wrote."""
    kept = {one: whom for one, whom in _noted(folder).items() if os.path.lexists(os.path.join(folder, one))}
    replace_atomically(folder + _OWNERS, json.dumps({**kept, name: session}), durable=False)


def _drop_beginnings(folder: str, project: str, newest: str) -> None:
    """Such an agent fires its event before every call of the model, whether it compacts or not: of copies that only grew,
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
