"""A session to distil: a small file of ``key=value`` lines, named ``<unix time>-<short id>.task``.

A task that was given up becomes a dead letter, with the reason. A person can read it and move it back into the queue.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable

from hookline.core._dataclass import dataclass, fields, replace
from hookline.core.files import list_names, read_text, replace_atomically
from hookline.core.paths import private_dir

_SUFFIX = ".task"
_SHORT = 8
_ANSWER_MARK = "--- answer ---"

_NAME = re.compile(r"(\d{1,12})-(.+)\.task")
_ESCAPED = str.maketrans({"\\": "\\\\", "\n": "\\n", "\r": "\\r"})
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class DistillTask:
    """lazy-harness documents the first five lines; the others are ours and optional."""

    cwd: str = ""
    session_jsonl: str = ""
    session_id: str = ""
    memory_dir: str = ""
    #: When it was queued: local time, ISO 8601 with its offset.
    timestamp: str = ""
    agent: str = ""
    #: The same in seconds since the epoch: the file's own time changes when it is claimed.
    created: str = ""
    #: The state of the transcript at the session's end; only set for a session that has ended.
    seen: str = ""
    attempts: str = ""
    #: Earliest time of the next attempt, in seconds since the epoch.
    not_before: str = ""
    #: How it ended (``wrote``, ``nothing``, ``skipped``, ``failed``), and why.
    outcome: str = ""
    reason: str = ""
    host: str = ""

    @property
    def tries(self) -> int:
        return int(self.attempts) if self.attempts.isascii() and self.attempts.isdigit() else 0

    @property
    def due(self) -> float:
        return _seconds(self.not_before)

    @property
    def awaits_end(self) -> bool:
        """Of the session; one that waits for another try has a reason."""
        return bool(self.due) and not self.reason

    @property
    def made(self) -> float:
        return _seconds(self.created)


def format_task(task: DistillTask) -> str:
    """Line breaks in a value are escaped: a directory's name must not add a field."""
    named = ((slot.name, getattr(task, slot.name)) for slot in fields(task))
    document = {"cwd", "session_jsonl", "session_id", "memory_dir", "timestamp"}
    return "".join(f"{name}={value.translate(_ESCAPED)}\n" for name, value in named if value or name in document)


def parse_task(text: str) -> DistillTask:
    """Unknown keys and other lines are ignored; an empty file is an empty task.

    The text below the mark is the model's answer of a task that was given up.
    """
    known = {slot.name for slot in fields(DistillTask)}
    pairs = (line.partition("=") for line in text.partition(f"\n{_ANSWER_MARK}\n")[0].split("\n"))
    return DistillTask(**{key: _ESCAPE.sub(_unescaped, value) for key, found, value in pairs if found and key in known})


def short_id(session: str) -> str:
    """The first letters of a session's id, made safe for a file name."""
    return re.sub(r"[^A-Za-z0-9_-]", "_", session[:_SHORT]) or "unknown"


def task_name(seconds: int, session: str) -> str:
    return f"{max(seconds, 0)}-{short_id(session)}{_SUFFIX}"


def task_time(name: str) -> int | None:
    """The time in a task's name; None for another file."""
    found = _NAME.fullmatch(name)
    return int(found[1]) if found else None


def sort_tasks(names: Iterable[str]) -> list[str]:
    """The tasks among these names, oldest first."""
    return sorted((name for name in names if task_time(name) is not None), key=lambda name: (task_time(name), name))


def may_belong_to(name: str, session: str) -> bool:
    """Whether the name may be a task of this session: other ids may begin with the same letters."""
    return name.partition("-")[2] == short_id(session) + _SUFFIX


def _unescaped(found: re.Match[str]) -> str:
    return {"n": "\n", "r": "\r"}.get(found[1], found[1])


def _seconds(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        return 0.0
    return value if 0 <= value < 1e12 else 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Letter:
    name: str
    task: DistillTask
    #: The model's answer, where that is the reason.
    answer: str = ""


def write_dead_letter(folder: str, name: str, task: DistillTask, reason: str, answer: str = "") -> None:
    """Raises OSError and StateError."""
    private_dir(folder)
    # Without its attempts: a person who moves the file back into the queue wants all of them again.
    text = format_task(replace(task, outcome="failed", reason=reason, attempts="", not_before=""))
    replace_atomically(os.path.join(folder, name), f"{text}{_ANSWER_MARK}\n{answer}\n" if answer else text)


def dead_letters(folder: str) -> list[_Letter]:
    """Oldest first."""
    found: list[_Letter] = []
    for name in sort_tasks(list_names(folder)):
        text = read_text(os.path.join(folder, name), 1 << 20, errors="surrogateescape") or ""
        found.append(_Letter(name=name, task=parse_task(text), answer=text.partition(f"\n{_ANSWER_MARK}\n")[2].strip()))
    return found
