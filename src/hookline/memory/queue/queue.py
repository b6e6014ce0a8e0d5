"""The queue: a directory in which a rename is the only thing that moves a task.

``X.task`` waits; ``claimed/X.task@HOST.PID`` is being worked on; ``done/X.task`` has ended, and says how. Every step is
one rename, so a worker that is killed leaves each task in exactly one of the three, and two machines that share the
directory cannot both get one. A claim of this machine whose worker is gone is taken back at once (whoever asks holds
the worker's lock); one of another machine when its lease has run out by the file system's own clock, which both see.
"""

from __future__ import annotations

import contextlib
import os
import re
import time
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass, replace
from hookline.core.files import UNFINISHED, prune, read_text, replace_atomically
from hookline.core.paths import private_dir
from hookline.memory.queue.task import (
    DistillTask,
    format_task,
    may_belong_to,
    parse_task,
    queued_at,
    sort_tasks,
    task_name,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

CLAIMED = "claimed"
_DONE = "done"
_WAKE = ".now"
#: Seconds after which a file that somebody began to write is nobody's any more.
_ABANDONED = 3600.0
#: No task waits longer than this for its next try: a due time further off was set by a clock that was wrong.
LONGEST_WAIT = 6 * 3600.0

_CLAIM = re.compile(r"(?P<name>.+\.task)@(?P<host>[A-Za-z0-9_-]+)\.(?P<pid>\d+)")


@dataclass(frozen=True, slots=True, kw_only=True)
class WaitingTask:
    """A task that waits, as its file says it."""

    name: str
    task: DistillTask
    #: When it was queued; the older of its name and its file, since both can be wrong and only one of them is early.
    since: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """A task that is ours to work on."""

    name: str
    path: str
    task: DistillTask


@dataclass(frozen=True, slots=True, kw_only=True)
class QueueCounts:
    pending: int
    claimed: int
    done: int
    done_today: int


class Queue:
    """One queue directory. ``host`` is this machine among those that share it."""

    def __init__(self, folder: str, *, clock: Callable[[], float] = time.time, host: str = "") -> None:
        self.folder = folder
        self.claimed = os.path.join(folder, CLAIMED)
        self.done = os.path.join(folder, _DONE)
        self._clock = clock
        self._host = host or this_host()

    # ── putting in ───────────────────────────────────────────────────────────────────────────────────

    def put(self, task: DistillTask) -> str:
        """Queue it, under a name that no task has or had; the name. Raises OSError and StateError."""
        private_dir(self.folder)
        now = self._clock()
        text = format_task(replace(task, created=f"{now:.3f}"))
        seconds = int(now)
        while True:
            name = task_name(seconds, task.session_id)
            if name not in self.claimed_names() and not os.path.lexists(os.path.join(self.done, name)):
                with contextlib.suppress(FileExistsError):
                    # Not waiting for the disk: an agent waits for us.
                    replace_atomically(os.path.join(self.folder, name), text, exclusive=True, durable=False)
                    return name
            seconds += 1

    # ── looking ──────────────────────────────────────────────────────────────────────────────────────

    def pending(self, session: str = "") -> list[WaitingTask]:
        """What waits, first come first; of one session, or of all."""
        names = _names(self.folder)
        if session:
            names = [name for name in names if may_belong_to(name, session)]
        return [one for name in sort_tasks(names) if (one := self._waiting(name, session))]

    def open_since(self, session: str) -> list[float]:
        """When the tasks of the session were queued that have not ended: they wait, or somebody is at them."""
        at_work = [
            float(queued_at(name) or 0)
            for name, _host, path in self._claims()
            if may_belong_to(name, session) and _of_session(path, session)
        ]
        return [one.since for one in self.pending(session)] + at_work

    def seconds_until_due(self, waiting: WaitingTask) -> float:
        """Seconds until it may be tried; 0 for now."""
        wait = waiting.task.due - self._clock()
        return wait if 0 < wait <= LONGEST_WAIT else 0.0

    def due(self) -> list[WaitingTask]:
        return [one for one in self.pending() if not self.seconds_until_due(one)]

    def ended(self, session: str) -> list[float]:
        """When the ended tasks of the session were queued."""
        paths = [os.path.join(self.done, name) for name in _names(self.done) if may_belong_to(name, session)]
        return [found for path in paths if (found := _time_of(path)) is not None and _of_session(path, session)]

    def queued_as(self, session: str, seen: str) -> str:
        """The task of the session that was queued when its transcript was just this, unless it failed; "" for none."""
        for name, path in self._places_of(session):
            task = _task_at(path)
            if task is not None and task.session_id == session and task.seen == seen and task.outcome != "failed":
                return name
        return ""

    def _places_of(self, session: str) -> Iterator[tuple[str, str]]:
        """In the order in which it goes through them: one that is moved meanwhile is found in the next."""
        yield from (
            (name, os.path.join(self.folder, name)) for name in _names(self.folder) if may_belong_to(name, session)
        )
        yield from ((name, path) for name, _host, path in self._claims() if may_belong_to(name, session))
        yield from ((name, os.path.join(self.done, name)) for name in _names(self.done) if may_belong_to(name, session))

    def has_work(self) -> bool:
        """Whether a worker would find anything, due or left behind."""
        return any("@" in name for name in _names(self.claimed)) or bool(self.due())

    def claimed_names(self) -> list[str]:
        return [name for name, _host, _path in self._claims()]

    def counts(self) -> QueueCounts:
        now = self._clock()
        today = time.localtime(now)[:3]
        done = [name for name in _names(self.done) if queued_at(name) is not None]
        times = [_time_of(os.path.join(self.done, name)) for name in done]
        return QueueCounts(
            pending=len(sort_tasks(_names(self.folder))),
            claimed=len(list(self._claims())),
            done=len(done),
            done_today=sum(found is not None and time.localtime(found)[:3] == today for found in times),
        )

    # ── working ──────────────────────────────────────────────────────────────────────────────────────

    def claim(self, waiting: WaitingTask) -> Claim | None:
        """Take it; None if somebody else was quicker."""
        private_dir(self.claimed)
        source = os.path.join(self.folder, waiting.name)
        path = os.path.join(self.claimed, f"{waiting.name}@{self._host}.{os.getpid()}")
        try:
            os.utime(source)  # before it has its new name: the lease counts from here
            os.rename(source, path)
        except OSError:
            return None
        task = waiting.task if waiting.task.created else replace(waiting.task, created=f"{waiting.since:.3f}")
        return Claim(name=waiting.name, path=path, task=task)

    def renew(self, claim: Claim) -> bool:
        """The lease counts from now. False if another machine has taken the task."""
        try:
            os.utime(claim.path)
        except OSError:
            return False
        return True

    def finish(self, claim: Claim, outcome: str, reason: str = "") -> None:
        """It has ended, well or not; unless another machine has taken it, and ends it. Raises OSError, and then it has not."""
        if not self.renew(claim):
            return
        private_dir(self.done)
        task = replace(claim.task, outcome=outcome, reason=reason, host=self._host, not_before="")
        replace_atomically(claim.path, format_task(task), mtime=self._made(claim))
        os.rename(claim.path, os.path.join(self.done, claim.name))

    def put_back(self, claim: Claim, *, wait: float = 0.0, reason: str = "", failed: bool = True) -> None:
        """It waits again, and counts as tried if it ``failed``. If even this cannot be done, it is taken back later."""
        if not self.renew(claim):  # another machine has taken it: it must not be there twice
            return
        tries = claim.task.tries + int(failed)
        due = f"{self._clock() + wait:.3f}" if wait else ""
        task = replace(claim.task, attempts=str(tries) if tries else "", not_before=due, reason=reason)
        with contextlib.suppress(OSError):  # on a full disk it waits without saying why
            replace_atomically(claim.path, format_task(task), mtime=self._made(claim))
        with contextlib.suppress(OSError):
            self._wait_again(claim.path, claim.name)

    def recover(self, lease: float, *, alone: bool = True) -> list[str]:
        """Put back what dead workers had claimed; the names. ``alone``: the worker's lock is held, so that no other
        worker of this machine is alive."""
        back: list[str] = []
        for name, host, path in list(self._claims()):
            ours = host == self._host and (alone or not _alive(path))
            if ours or self._expired(path, lease):
                with contextlib.suppress(OSError):
                    back.append(self._wait_again(path, name))
        return back

    def _wait_again(self, path: str, name: str) -> str:
        """Under its own name; or, where another task has got that meanwhile, the next free one, with its plan."""
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
        """Where what is made of a task is written down before it is done."""
        return os.path.join(self.claimed, f"{name}.plan")

    def wake(self) -> None:
        """Whoever waits for the next try of a task tries at once. Raises OSError and StateError."""
        replace_atomically(os.path.join(private_dir(self.folder), _WAKE), "", durable=False)

    def take_wake_request(self) -> bool:
        """Whether somebody wanted that since it was asked last."""
        try:
            os.unlink(os.path.join(self.folder, _WAKE))
        except OSError:
            return False
        return True

    def forget(self, session: str) -> int:
        """Take out what waits for a session and what says that it ended; how many. What is being worked on stays."""
        paths = [os.path.join(place, name) for place in (self.folder, self.done) for name in sort_tasks(_names(place))]
        gone = [path for path in paths if (task := _task_at(path)) is not None and task.session_id == session]
        for path in gone:
            with contextlib.suppress(FileNotFoundError):
                os.unlink(path)
        return len(gone)

    # ── keeping it small ─────────────────────────────────────────────────────────────────────────────

    def sweep(self, *, keep: int, days: float) -> int:
        """Remove ended tasks beyond the newest ``keep``, those older than ``days``, and what was never finished."""
        return prune(self.done, keep=keep, days=days, now=self._clock()) + self._sweep_unfinished()

    def _sweep_unfinished(self) -> int:
        removed = 0
        for folder in (self.folder, self.claimed, self.done):
            for name in _names(folder):
                path = os.path.join(folder, name)
                if name.startswith(UNFINISHED) and self._expired(path, _ABANDONED):
                    with contextlib.suppress(OSError):
                        os.unlink(path)
                        removed += 1
        return removed

    def _made(self, claim: Claim) -> float:
        return claim.task.made or float(queued_at(claim.name) or self._clock())

    def _waiting(self, name: str, session: str) -> WaitingTask | None:
        path = os.path.join(self.folder, name)
        task, changed = _task_at(path), _time_of(path)
        if task is None or changed is None:
            return None
        if session and task.session_id not in {"", session}:
            return None
        return WaitingTask(name=name, task=task, since=min(changed, float(queued_at(name) or 0)))

    def _claims(self) -> Iterator[tuple[str, str, str]]:
        for name in sorted(_names(self.claimed)):
            if found := _CLAIM.fullmatch(name):
                yield found["name"], found["host"], os.path.join(self.claimed, name)

    def _expired(self, path: str, lease: float) -> bool:
        """By the clock of the file system: those of two machines differ, and one's own may have jumped."""
        changed = _time_of(path)
        return changed is not None and abs(self._now_here() - changed) > lease

    def _now_here(self) -> float:
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
    """A name of this machine that another one which shares the directory does not have."""
    plain = re.sub(r"[^A-Za-z0-9_-]", "_", os.uname().nodename)[:40] or "host"
    machine = read_text("/etc/machine-id", 256) or ""
    return f"{plain}-{re.sub('[^a-z0-9]', '', machine)[:8]}" if machine.strip() else plain


def _alive(claim: str) -> bool:
    """Whether the process that made it, on this machine, may be there: another may have its number by now."""
    try:
        os.kill(int(claim.rpartition(".")[2]), 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


def _names(folder: str) -> list[str]:
    try:
        return os.listdir(folder)
    except OSError:
        return []


def _time_of(path: str) -> float | None:
    try:
        return os.stat(path, follow_symlinks=False).st_mtime
    except OSError:
        return None


def _of_session(path: str, session: str) -> bool:
    """A file that does not say whose it is counts by its name."""
    task = _task_at(path)
    return task is not None and task.session_id in {"", session}


def _task_at(path: str) -> DistillTask | None:
    text = read_text(path, 1 << 20, errors="surrogateescape")
    return None if text is None else parse_task(text)
