"""A flag that can be waited for together with file descriptors."""

from __future__ import annotations

import os
import threading


class Stop:
    """Set once, from any thread; a poll loop watches ``fileno()`` and wakes at once.

    The pipe is made on first use: most jobs end by themselves and never need it.
    """

    __slots__ = ("_lock", "_pipe", "_set")

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._pipe: tuple[int, int] | None = None
        self._set = False

    def set(self) -> None:
        with self._lock:
            self._set = True
            if self._pipe is not None:
                os.write(self._pipe[1], b"x")

    def is_set(self) -> bool:
        return self._set

    def fileno(self) -> int:
        with self._lock:
            if self._pipe is None:
                self._pipe = os.pipe()
                if self._set:
                    os.write(self._pipe[1], b"x")
            return self._pipe[0]

    def close(self) -> None:
        with self._lock:
            if self._pipe is not None:
                os.close(self._pipe[0])
                os.close(self._pipe[1])
                self._pipe = None

    def __del__(self) -> None:
        """A stop that nobody closed must not cost a long-lived process two descriptors per firing."""
        self.close()
