"""Threads that handle requests. One that waits for a slow hook is replaced by another, up to a limit.

Work goes to the thread that was busy last, so that those which are not needed any more notice it, and end: each has a
stack, and the C library keeps pieces of memory for each. One stays, to take over at once.
"""

from __future__ import annotations

import threading
import traceback
from collections import deque
from collections.abc import Callable
from queue import Empty, SimpleQueue
from typing import TypeAlias

_MOST = 256
#: Seconds that a thread waits for work.
_PATIENCE = 20.0

_Work: TypeAlias = "Callable[[], None]"
#: Where an idle thread waits for its next work; None ends it.
_Inbox: TypeAlias = "SimpleQueue[_Work | None]"


class ThreadPool:
    """Work goes to a thread that is free, or to a new one; over the limit it waits for its turn."""

    def __init__(self, most: int = _MOST, patience: float = _PATIENCE) -> None:
        self._most = most
        self._patience = patience
        self._lock = threading.Lock()
        self._threads = 0
        self._idle: list[_Inbox] = []
        self._waiting: deque[_Work] = deque()
        self._closed = False

    def submit(self, work: _Work) -> None:
        with self._lock:
            grow = not self._idle and self._threads < self._most
            self._threads += grow
            if not grow:
                self._assign(work)
        if grow:
            self._grow(work)

    def _assign(self, work: _Work) -> None:
        """Under the lock: to an idle thread, or else to the first that is done."""
        if self._idle:
            self._idle.pop().put(work)
        else:
            self._waiting.append(work)

    def _grow(self, work: _Work) -> None:
        try:
            threading.Thread(target=self._run, args=(work,), name="hookline-request", daemon=True).start()
        except RuntimeError:  # no more threads: whoever is idle next takes the work
            with self._lock:
                self._threads -= 1
                nobody = not self._threads
                self._assign(work)
            if nobody:
                raise

    def close(self) -> None:
        with self._lock:
            self._closed = True
            while self._idle:
                self._idle.pop().put(None)

    def _run(self, first: _Work) -> None:
        work: _Work | None = first
        inbox: _Inbox = SimpleQueue()
        while work is not None:
            try:
                work()
            except Exception:  # a bug of ours costs one request, not a thread
                traceback.print_exc()
            work = self._next(inbox)
        with self._lock:
            self._threads -= 1

    def _next(self, inbox: _Inbox) -> _Work | None:
        """None: this thread is not needed."""
        with self._lock:
            if self._waiting:
                return self._waiting.popleft()
            if self._closed:
                return None
            self._idle.append(inbox)
        while True:
            try:
                return inbox.get(timeout=None if self._idle[:1] == [inbox] else self._patience)
            except Empty:
                with self._lock:
                    if inbox in self._idle[1:]:  # otherwise work is on its way
                        self._idle.remove(inbox)
                        return None
