"""Threads that carry out requests. One that waits for a slow hook is replaced by another, up to a limit."""

from __future__ import annotations

import threading
import traceback
from queue import SimpleQueue
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

MOST = 256


class Pool:
    """Work goes to a thread that is free, or to a new one; over the limit it waits for its turn."""

    def __init__(self, most: int = MOST) -> None:
        self._work: SimpleQueue[Callable[[], None] | None] = SimpleQueue()
        self._most = most
        self._lock = threading.Lock()
        self._threads = 0
        self._free = 0

    def submit(self, work: Callable[[], None]) -> None:
        with self._lock:
            grow = self._free <= self._work.qsize() and self._threads < self._most
            self._threads += grow
        self._work.put(work)
        if grow:
            self._grow()

    def _grow(self) -> None:
        try:
            threading.Thread(target=self._run, name="hookline-request", daemon=True).start()
        except RuntimeError:  # the system has no room for one: whoever is free next takes the work
            with self._lock:
                self._threads -= 1
                nobody = not self._threads
            if nobody:
                raise

    def close(self) -> None:
        with self._lock:
            threads = self._threads
        for _ in range(threads):
            self._work.put(None)

    def _run(self) -> None:
        while True:
            with self._lock:
                self._free += 1
            work = self._work.get()
            with self._lock:
                self._free -= 1
            if work is None:
                return
            try:
                work()
            except Exception:  # a bug of ours costs one piece of work, not a thread
                traceback.print_exc()
