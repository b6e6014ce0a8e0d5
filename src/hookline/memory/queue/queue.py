"""The queue: a directory in which tasks move by rename only.

``X.task`` waits; ``claimed/X.task@HOST.PID`` is being processed; ``done/X.task`` has ended and contains its outcome. Each
step is one rename, so a killed worker leaves each task in exactly one of the three, and two machines that share the
directory cannot both get one. A claim of this machine whose worker is gone is taken back at once (the caller holds the
worker lock). A claim of another machine is taken back when its lease has expired by the file system's clock, which both
machines see.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from collections.abc import Callable, Iterator

from hookline.core._dataclass import dataclass, replace
from hookline.core.files import UNFINISHED, is_alive, list_names, prune, read_text, replace_atomically
from hookline.core.paths import private_dir
from hookline.memory.queue.task import (
    DistillTask,
    format_task,
    may_belong_to,
    parse_task,
    sort_tasks,
    task_name,
    task_time,
)

CLAIMED = "claimed"
_DONE = "done"
_WAKE = ".now"
#: Outcomes of tasks for which a model was asked.
_ASKED = frozenset({"wrote", "nothing", "failed"})
#: Seconds after which a temporary file is abandoned.
_ABANDONED = 3600.0
#: No task waits longer for its next attempt: a due time further away comes from a wrong clock.
LONGEST_WAIT = 6 * 3600.0

_CLAIM = re.compile(r"(?P<name>.+\.task)@(?P<host>[A-Za-z0-9_-]+)\.(?P<pid>\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTask:
    """A task that waits."""

    name: str
    task: DistillTask
    #: When it was queued: the older of its name's and its file's time, since either can be too late.
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A task that we process."""

    name: str
    path: str
    task: DistillTask


@dataclass(frozen=True, slots=True, kw_only=True)
class _QueueCounts:
    pending: int
    claimed: int
    done: int
    done_today: int


class Queue:
    """One queue directory. ``host`` identifies this machine among those that share it."""

    def __init__(self, folder: str, *, clock: Callable[[], float] = time.time, host: str = "") -> None:
        self.folder = folder
        self.claimed = os.path.join(folder, CLAIMED)
        self.done = os.path.join(folder, _DONE)
        self._clock = clock
        self._host = host or this_host()

    def put(self, task: DistillTask) -> str:
        """Queue it under a new name, which is returned. Raises OSError and StateError."""
        private_dir(self.folder)
        now = self._clock()
        text = format_task(replace(task, created=f"{now:.3f}"))
        seconds = int(now)
        while True:
            name = task_name(seconds, task.session_id)
            if name not in self.claimed_names() and not os.path.lexists(os.path.join(self.done, name)):
                with contextlib.suppress(FileExistsError):
                    # Not durable: an agent waits for us.
                    replace_atomically(os.path.join(self.folder, name), text, exclusive=True, durable=False)
                    return name
            seconds += 1

    def pending(self, session: str = "") -> list[WaitingTask]:
        """The waiting tasks, oldest first; of one session, or of all."""
        names = list_names(self.folder)
        if session:
            names = [name for name in names if may_belong_to(name, session)]
        return [one for name in sort_tasks(names) if (one := self._waiting(name, session))]

    def open_since(self, session: str) -> list[float]:
        """When the tasks of the session that have not ended were queued."""
        claimed = [
            float(task_time(name) or 0)
            for name, _host, path in self._claims()
            if may_belong_to(name, session) and _belongs_to(path, session)
        ]
        return [one.since for one in self.pending(session)] + claimed

    def seconds_until_due(self, waiting: WaitingTask) -> float:
        """0 for now."""
        wait = waiting.task.due - self._clock()
        return wait if 0 < wait <= LONGEST_WAIT else 0.0

    def postponed(self, session: str) -> list[WaitingTask]:
        return [one for one in self.pending(session) if one.task.awaits_end]

    def postpone(self, waiting: WaitingTask, wait: float) -> None:
        """Let it wait so many seconds from now, unless a worker is faster."""
        if claim := self.claim(waiting):
            self.put_back(claim, wait=wait, failed=False)

    def drop(self, waiting: WaitingTask) -> None:
        """It is about less than a newer one."""
        with contextlib.suppress(OSError):
            os.unlink(os.path.join(self.folder, waiting.name))

    def due(self) -> list[WaitingTask]:
        return [one for one in self.pending() if not self.seconds_until_due(one)]

    def ended(self, session: str) -> list[float]:
        """When the finished tasks of the session were queued."""
        paths = [os.path.join(self.done, name) for name in list_names(self.done) if may_belong_to(name, session)]
        return [found for path in paths if (found := _mtime(path)) is not None and _belongs_to(path, session)]

    def asked(self, session: str) -> int:
        """How often a model was asked about the session."""
        tasks = [read_task(path) for _name, path in self._session_tasks(session)]
        return sum(one is not None and one.session_id == session and one.outcome in _ASKED for one in tasks)

    def queued_as(self, session: str, seen: str) -> str:
        """The session's task for this state of its transcript, unless it failed; "" for none."""
        for name, path in self._session_tasks(session):
            task = read_task(path)
            if task is not None and task.session_id == session and task.seen == seen and task.outcome != "failed":
                return name
        return ""

    def _session_tasks(self, session: str) -> Iterator[tuple[str, str]]:
        """In the order in which tasks move: one that moves meanwhile is found in the next folder."""
        yield from (
            (name, os.path.join(self.folder, name)) for name in list_names(self.folder) if may_belong_to(name, session)
        )
        yield from ((name, path) for name, _host, path in self._claims() if may_belong_to(name, session))
        yield from (
            (name, os.path.join(self.done, name)) for name in list_names(self.done) if may_belong_to(name, session)
        )

    def has_work(self) -> bool:
        """Whether a worker would find anything, due or abandoned."""
        return any("@" in name for name in list_names(self.claimed)) or bool(self.due())

    def claimed_names(self) -> list[str]:
        return [name for name, _host, _path in self._claims()]

    def counts(self) -> _QueueCounts:
        now = self._clock()
        today = time.localtime(now)[:3]
        done = [name for name in list_names(self.done) if task_time(name) is not None]
        times = [_mtime(os.path.join(self.done, name)) for name in done]
        return _QueueCounts(
            pending=len(sort_tasks(list_names(self.folder))),
            claimed=len(list(self._claims())),
            done=len(done),
            done_today=sum(found is not None and time.localtime(found)[:3] == today for found in times),
        )

    def claim(self, waiting: WaitingTask) -> Claim | None:
        """Claim it; None if another worker was faster."""
        private_dir(self.claimed)
        source = os.path.join(self.folder, waiting.name)
        path = os.path.join(self.claimed, f"{waiting.name}@{self._host}.{os.getpid()}")
        try:
            os.utime(source)  # before the rename: the lease counts from here
            os.rename(source, path)
        except OSError:
            return None
        task = waiting.task if waiting.task.created else replace(waiting.task, created=f"{waiting.since:.3f}")
        return Claim(name=waiting.name, path=path, task=task)

    def renew(self, claim: Claim) -> bool:
        """Restart the lease. False if another machine has taken the task."""
        try:
            os.utime(claim.path)
        except OSError:
            return False
        return True

    def finish(self, claim: Claim, outcome: str, reason: str = "") -> None:
        """Move it to ``done`` with its outcome, unless another machine has taken it. Raises OSError if it was not moved."""
        if not self.renew(claim):
            return
        private_dir(self.done)
        task = replace(claim.task, outcome=outcome, reason=reason, host=self._host, not_before="")
        replace_atomically(claim.path, format_task(task), mtime=self._created(claim))
        os.rename(claim.path, os.path.join(self.done, claim.name))

    def put_back(self, claim: Claim, *, wait: float = 0.0, reason: str = "", failed: bool = True) -> None:
        """Let it wait again; an attempt counts if it ``failed``. If even this is impossible, it is taken back later."""
        if not self.renew(claim):  # another machine has taken it: it must not exist twice
            return
        tries = claim.task.tries + int(failed)
        due = f"{self._clock() + wait:.3f}" if wait else ""
        task = replace(claim.task, attempts=str(tries) if tries else "", not_before=due, reason=reason)
        with contextlib.suppress(OSError):  # on a full disk it waits without the reason
            replace_atomically(claim.path, format_task(task), mtime=self._created(claim))
        with contextlib.suppress(OSError):
            self._requeue(claim.path, claim.name)

    def recover(self, lease: float, *, alone: bool = True) -> list[str]:
        """Put back the claims of dead workers; their names. ``alone``: we hold the worker lock, so no other worker of
        this machine is alive."""
        back: list[str] = []
        for name, host, path in list(self._claims()):
            ours = host == self._host and (alone or not is_alive(int(path.rpartition(".")[2])))
            if ours or self._expired(path, lease):
                with contextlib.suppress(OSError):
                    back.append(self._requeue(path, name))
        return back

    def _requeue(self, path: str, name: str) -> str:
        """Under its own name or, if another task has that now, the next free one, together with its plan."""
        fresh = name
        while os.path.lexists(os.path.join(self.folder, fresh)):
            seconds, dash, rest = fresh.partition("-")
            fresh = f"{int(seconds) + 1}{dash}{rest}"
        if fresh != name:
            with contextlib.suppress(OSError):
                os.rename(self.plan_path(name), self.plan_path(fresh))
        os.rename(path, os.path.join(self.folder, fresh))
        return fresh

    def plan_path(self, name: str) -> str:
        """The file for the task's answer, saved before anything is written from it."""
        return os.path.join(self.claimed, f"{name}.plan")

    def wake(self) -> None:
        """Ask a waiting worker to retry at once. Raises OSError and StateError."""
        replace_atomically(os.path.join(private_dir(self.folder), _WAKE), "", durable=False)

    def take_wake_request(self) -> bool:
        """Whether ``wake`` was called since the last time."""
        try:
            os.unlink(os.path.join(self.folder, _WAKE))
        except OSError:
            return False
        return True

    def sweep(self, *, keep: int, days: float) -> int:
        """Remove finished tasks beyond the newest ``keep`` or older than ``days``, and abandoned temporary files."""
        return prune(self.done, keep=keep, days=days, now=self._clock()) + self._sweep_unfinished()

    def _sweep_unfinished(self) -> int:
        removed = 0
        for folder in (self.folder, self.claimed, self.done):
            for name in list_names(folder):
                path = os.path.join(folder, name)
                if name.startswith(UNFINISHED) and self._expired(path, _ABANDONED):
                    with contextlib.suppress(OSError):
                        os.unlink(path)
                        removed += 1
        return removed

    def _created(self, claim: Claim) -> float:
        return claim.task.made or float(task_time(claim.name) or self._clock())

    def _waiting(self, name: str, session: str) -> WaitingTask | None:
        path = os.path.join(self.folder, name)
        task, changed = read_task(path), _mtime(path)
        if task is None or changed is None:
            return None
        if session and task.session_id not in {"", session}:
            return None
        return WaitingTask(name=name, task=task, since=min(changed, float(task_time(name) or 0)))

    def _claims(self) -> Iterator[tuple[str, str, str]]:
        for name in list_names(self.claimed):
            if found := _CLAIM.fullmatch(name):
                yield found["name"], found["host"], os.path.join(self.claimed, name)

    def _expired(self, path: str, lease: float) -> bool:
        """By the file system's clock: those of two machines differ, and our own may have jumped."""
        changed = _mtime(path)
        return changed is not None and abs(self._file_system_time() - changed) > lease

    def _file_system_time(self) -> float:
        probe = os.path.join(self.folder, f"{UNFINISHED}clock-{os.getpid()}")
        try:
            handle = os.open(probe, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
            try:
                os.utime(handle)
                return os.fstat(handle).st_mtime
            finally:
                os.close(handle)
                os.unlink(probe)
        except OSError:
            return self._clock()


def this_host() -> str:
    """A name of this machine that is unique among those that share the directory."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", os.uname().nodename)[:40] or "host"
    machine = read_text("/etc/machine-id", 256) or ""
    return f"{plain}-{re.sub('[^a-z0-9]', '', machine)[:8]}" if machine.strip() else plain


def _mtime(path: str) -> float | None:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return None


def _belongs_to(path: str, session: str) -> bool:
    """A file without a session id counts by its name."""
    task = read_task(path)
    return task is not None and task.session_id in {"", session}


def read_task(path: str) -> DistillTask | None:
    text = read_text(path, 1 << 20, errors="surrogateescape")
    return None if text is None else parse_task(text)
