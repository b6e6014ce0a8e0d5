"""The state of hooks, logs and the queue, for ``hookline status``."""

from __future__ import annotations

import os
import re
import time

from hookline.core._dataclass import dataclass
from hookline.core.files import read_text
from hookline.memory.context import MAX_LOG
from hookline.memory.layout import Places
from hookline.memory.queue import task
from hookline.memory.queue.launch import is_worker_running
from hookline.memory.queue.queue import Queue, QueueCounts, WaitingTask

#: Lines of the worker log that are shown.
_LAST = 5
_LINE = re.compile(r"(\d{4}-\d\d-\d\dT\S+) ([\w.-]+): (.*)")
_ERROR = re.compile(r"\b(error|failed|problem|not queued|could not)\b", re.IGNORECASE)
_OUTCOME = re.compile(r"^(wrote|nothing|skipped|error)")
_CWD = "fired cwd="


@dataclass(frozen=True, slots=True, kw_only=True)
class _HookRun:
    """A hook's last run; ``state`` is ``ok`` if that was today, else ``stale``."""

    hook: str
    last: str
    state: str
    cwd: str = ""
    did: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class _Log:
    path: str
    bytes: int
    errors_today: int


@dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """One line of a log: time, hook and message."""

    moment: str
    name: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueueStatus:
    counts: QueueCounts
    waiting: tuple[WaitingTask, ...]
    dead: int
    running: bool
    last: tuple[str, ...]


def hook_runs(places: Places) -> list[_HookRun]:
    """Every hook that wrote to ``hooks.log``, by name."""
    ran: dict[str, _HookRun] = {}
    for line in _log_lines(places.hooks_log):
        state = "ok" if line.moment[:10] == _today() else "stale"
        if line.text.startswith(_CWD):
            ran[line.name] = _HookRun(hook=line.name, last=line.moment, state=state, cwd=line.text.removeprefix(_CWD))
        elif known := ran.get(line.name):
            ran[line.name] = _HookRun(hook=line.name, last=line.moment, state=state, cwd=known.cwd, did=line.text)
    return [ran[name] for name in sorted(ran)]


def log_files(places: Places) -> list[_Log]:
    found: list[_Log] = []
    for path in (places.hooks_log, places.worker_log):
        errors = sum(line.moment[:10] == _today() and bool(_ERROR.search(line.text)) for line in _log_lines(path))
        size = os.path.getsize(path) if os.path.exists(path) else 0
        found.append(_Log(path=path, bytes=size, errors_today=errors))
    return found


def queue_status(places: Places) -> _QueueStatus:
    queue = Queue(places.queue)
    outcomes = [f"{line.moment} {line.text}" for line in _log_lines(places.worker_log) if _OUTCOME.match(line.text)]
    return _QueueStatus(
        counts=queue.counts(), waiting=tuple(queue.pending()), dead=len(task.dead_letters(places.dead)),
        running=is_worker_running(places.worker_lock), last=tuple(outcomes[-_LAST:]),
    )  # fmt: skip


def _log_lines(path: str) -> list[_Line]:
    text = read_text(path, 16 * MAX_LOG) or ""
    found = (_LINE.fullmatch(line) for line in text.splitlines())
    return [_Line(moment=one[1], name=one[2], text=one[3]) for one in found if one]


def _today() -> str:
    return time.strftime("%Y-%m-%d")
