"""Python hooks in a process that stays: one that hangs costs its own answer and nobody else's.

A function of the user's own layers runs in a thread of this process, which is given up when it overruns: what sleeps
in C cannot be interrupted, only left behind. A function of a project runs in that project's worker process.
"""

from __future__ import annotations

import threading
from queue import Empty, SimpleQueue
from typing import TYPE_CHECKING

from hookline.daemon.projects import ProjectWorker
from hookline.result import Raw
from hookline.run.function import FunctionRunner

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.run.base import Job
    from hookline.spec import HookSpec

#: Seconds that the watchdog's exception gets to arrive before the thread is given up.
PATIENCE = 0.5


class _Helper:
    """A thread that runs one job after the other for whoever has it."""

    def __init__(self, run: Callable[[Job], Raw]) -> None:
        self._run = run
        self.jobs: SimpleQueue[Job | None] = SimpleQueue()
        self.results: SimpleQueue[Raw] = SimpleQueue()
        threading.Thread(target=self._work, name="hookline-function", daemon=True).start()

    def _work(self) -> None:
        while (job := self.jobs.get()) is not None:
            self.results.put(self._run(job))


class ResidentFunctions:
    """Satisfies ``Runner`` for functions."""

    def __init__(self, *, foreign: Callable[[HookSpec], bool]) -> None:
        self._own = FunctionRunner()
        self._foreign = foreign
        self._worker = ProjectWorker()
        self._idle: list[_Helper] = []

    def run(self, job: Job) -> Raw:
        if self._foreign(job.spec):
            return self._worker.run(job)
        try:
            helper = self._idle.pop()
        except IndexError:
            helper = _Helper(self._own.run)
        helper.jobs.put(job)
        limit = None if job.spec.timeout is None else job.spec.timeout + PATIENCE
        try:
            raw = helper.results.get(timeout=limit)
        except Empty:
            helper.jobs.put(None)
            seconds = job.spec.timeout or 0.0
            return Raw(timed_out=True, ms=seconds * 1000, notes=("its thread could not be ended",))
        self._idle.append(helper)
        return raw

    def start(self, job: Job) -> Raw:
        return self._worker.start(job) if self._foreign(job.spec) else self._own.start(job)

    def close(self) -> None:
        self._worker.close()
        while self._idle:
            self._idle.pop().jobs.put(None)
        self._own.close()
