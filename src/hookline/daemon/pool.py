"""Threads that handle requests. One that waits for a slow hook is replaced by another, up to a limit."""

from __future__ import annotations

import threading
import traceback
from collections.abc import Callable
from queue import SimpleQueue

_MOST = 256


class ThreadPool:
    """Work goes to a thread that is free, or to a new one; over the limit it waits for its turn."""

    def __init__(self, most: int = _MOST) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._most = most
        self._lock = threading.Lock()
        self._threads = 0
        #: Idle threads that no work is assigned to yet, and work that no thread is assigned to yet. Both are counted when
        #: work arrives, not when a thread takes it: a thread that has just taken work would look idle.
        self._free = 0
        self._waiting = 0

    def submit(self, work: Callable[[], None]) -> None:
        with self._lock:
            grow = not self._free and self._threads < self._most
            self._threads += grow
            if not grow:
                self._assign()
        self._work.put(work)
        if grow:
            self._grow()

    def _assign(self) -> None:
        """Under the lock: to an idle thread, or else to the first that is done."""
        if self._free:
            self._free -= 1
        else:
            self._waiting += 1

    def _grow(self) -> None:
        try:
            threading.Thread(target=self._run, name="hookline-request", daemon=True).start()
        except RuntimeError:  # no more threads: whoever is idle next takes the work
            with self._lock:
                self._threads -= 1
                nobody = not self._threads
                self._assign()
            if nobody:
                raise

    def close(self) -> None:
        with self._lock:
            for _ in range(self._threads):
                self._assign()
                self._work.put(None)

    def _run(self) -> None:
        while (work := self._work.get()) is not None:
            try:
                work()
            except Exception:  # a bug of ours costs one request, not a thread
                traceback.print_exc()
            with self._lock:
                if self._waiting:
                    self._waiting -= 1
                else:
                    self._free += 1
