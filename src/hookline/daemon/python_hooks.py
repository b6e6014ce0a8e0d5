"""Python hooks in a process that stays: one that hangs costs its own answer and nobody else's.

A function of the user's own layers runs in the thread of its request. The watchdog ends one that overruns, unless it
sleeps in C, where no exception reaches it: then its request is given up (``overdue`` names the thread), the client does
without us, and from then on that function runs in a thread that can be left behind. Handing every call to such a thread
was tried: on a busy machine it cost more than all the rest. A function of a project runs in that project's worker.
"""

from __future__ import annotations

import threading
from collections.abc import Collection
from math import inf
from queue import Empty, SimpleQueue
from threading import get_ident
from time import monotonic

from hookline.core.hook import Function, HookSpec
from hookline.core.result import RunResult
from hookline.daemon.worker_pool import ProjectWorker
from hookline.runners.base import Job
from hookline.runners.function import FunctionRunner

#: Seconds that the watchdog's exception gets to arrive before the thread is given up.
_PATIENCE = 0.5

#: What tells one function from another.
_Which = tuple[str, str]


class Deadlines:
    """Which threads run a function that should have ended; one for the whole daemon."""

    __slots__ = ("hanging", "running")

    def __init__(self) -> None:
        #: Thread -> when its function should have ended, and whose function it is. Each thread keeps its own entry.
        self.running: dict[int, tuple[float, HookSpec]] = {}
        self.hanging: set[_Which] = set()

    def overdue(self, thread: int) -> bool:
        """Whether this thread is to be given up; said once."""
        until, spec = self.running.get(thread, (inf, None))
        if spec is None or until > monotonic():
            return False
        self.hanging.add(_which(spec))
        self.running.pop(thread, None)
        return True


class ResidentFunctions:
    """Satisfies ``Runner`` for functions. Those of ``elsewhere``, by the ids of their hooks, run in a worker."""

    def __init__(self, deadlines: Deadlines, *, elsewhere: Collection[str]) -> None:
        self._own = FunctionRunner()
        self._deadlines = deadlines
        self._elsewhere = elsewhere
        self._worker = ProjectWorker()

    def run(self, job: Job) -> RunResult:
        spec = job.spec
        if spec.id in self._elsewhere:
            return self._worker.run(job)
        seconds = spec.timeout
        if seconds is None:
            return self._own.run(job)
        hanging, running, thread = self._deadlines.hanging, self._deadlines.running, get_ident()
        if hanging and _which(spec) in hanging:
            return self._apart(job, seconds)
        running[thread] = (monotonic() + seconds + _PATIENCE, spec)
        try:
            return self._own.run(job)
        finally:
            running.pop(thread, None)

    def _apart(self, job: Job, seconds: float) -> RunResult:
        """In a thread that nobody waits for beyond the deadline."""
        results: SimpleQueue[RunResult] = SimpleQueue()
        threading.Thread(target=lambda: results.put(self._own.run(job)), name="hookline-function", daemon=True).start()
        try:
            return results.get(timeout=seconds + _PATIENCE)
        except Empty:
            return RunResult(timed_out=True, ms=seconds * 1000, notes=("its thread could not be ended",))

    def start(self, job: Job) -> RunResult:
        return self._worker.start(job) if job.spec.id in self._elsewhere else self._own.start(job)

    def close(self) -> None:
        self._worker.close()
        self._own.close()


def _which(spec: HookSpec) -> _Which:
    action = spec.action
    assert isinstance(action, Function)
    return action.target, action.base
