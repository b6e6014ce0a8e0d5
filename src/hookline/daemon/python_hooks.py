"""Python hooks in a resident process: one that hangs costs its own answer and nobody else's.

A function of the user's own layers runs in the thread of its request. The watchdog ends one that overruns, unless it
sleeps in C, where no exception reaches it: then its request is given up (``overdue`` names the thread), the client runs
without us, and from then on that function runs in a thread that can be abandoned. Using such a thread for every call
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

#: Identifies a function.
_FunctionKey = tuple[str, str]


class Deadlines:
    """Threads that run a function past its deadline; one table for the whole daemon."""

    __slots__ = ("hanging", "running")

    def __init__(self) -> None:
        #: Thread -> when its function should have ended, and whose function it is. Each thread keeps its own entry.
        self.running: dict[int, tuple[float, HookSpec]] = {}
        self.hanging: set[_FunctionKey] = set()

    def overdue(self, thread: int) -> bool:
        """Whether to give this thread up; True once."""
        until, spec = self.running.get(thread, (inf, None))
        if spec is None or until > monotonic():
            return False
        self.hanging.add(_function_key(spec))
        self.running.pop(thread, None)
        return True


class ResidentFunctions:
    """Satisfies ``Runner`` for functions. Those of ``in_worker``, by the ids of their hooks, run in a worker."""

    def __init__(self, deadlines: Deadlines, *, in_worker: Collection[str]) -> None:
        self._own = FunctionRunner()
        self._deadlines = deadlines
        self._in_worker = in_worker
        self._worker = ProjectWorker()

    def run(self, job: Job) -> RunResult:
        spec = job.spec
        if spec.id in self._in_worker:
            return self._worker.run(job)
        seconds = spec.timeout
        if seconds is None:
            return self._own.run(job)
        hanging, running, thread = self._deadlines.hanging, self._deadlines.running, get_ident()
        if hanging and _function_key(spec) in hanging:
            return self._run_in_thread(job, seconds)
        running[thread] = (monotonic() + seconds + _PATIENCE, spec)
        try:
            return self._own.run(job)
        finally:
            running.pop(thread, None)

    def _run_in_thread(self, job: Job, seconds: float) -> RunResult:
        """In a thread that is abandoned at the deadline."""
        results: SimpleQueue[RunResult] = SimpleQueue()
        threading.Thread(target=lambda: results.put(self._own.run(job)), name="hookline-function", daemon=True).start()
        try:
            return results.get(timeout=seconds + _PATIENCE)
        except Empty:
            return RunResult(timed_out=True, ms=seconds * 1000, notes=("its thread could not be ended",))

    def start(self, job: Job) -> RunResult:
        return self._worker.start(job) if job.spec.id in self._in_worker else self._own.start(job)

    def close(self) -> None:
        self._worker.close()
        self._own.close()


def _function_key(spec: HookSpec) -> _FunctionKey:
    action = spec.action
    assert isinstance(action, Function)
    return action.target, action.base
