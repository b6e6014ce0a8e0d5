"""What a runner is: it runs one action for one event, and never raises.

Runners block. The synchronous door calls them in its own thread; the asynchronous one hands them to a
thread. This way the process handling exists once, and a cold run needs no event loop.
"""

from __future__ import annotations

import os
from _thread import allocate_lock
from collections.abc import Callable, Mapping

from hookline.core._dataclass import dataclass
from hookline.core.event import Event
from hookline.core.hook import HookSpec
from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.core.typed import Any, Protocol
from hookline.dialects.base import Call

#: Seconds. Some systems cannot wait longer than this, and nobody means such a limit.
_MAX_TIMEOUT = 7 * 86400.0
#: Seconds for a hook whose caller has no time left: 0 would mean no limit to some runners.
MIN_TIMEOUT = 0.01


class Stop:
    """Set once, from any thread; a poll loop watches ``fileno()`` and wakes at once.

    The pipe is made on first use: most jobs end by themselves and never need it.
    """

    __slots__ = ("_lock", "_pipe", "_set")

    def __init__(self) -> None:
        self._lock = allocate_lock()
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


class ApprovedFiles(Protocol):
    """The files that a project's hook was approved with."""

    @property
    def root(self) -> str: ...
    @property
    def version(self) -> str:
        """Another one after every change, also after one that was undone."""
        ...

    @property
    def has_modules(self) -> bool:
        """Whether Python may import one of them."""
        ...

    def digest(self, path: str) -> str:
        """SHA-256 of the file as approved; "" for one that was not."""
        ...

    def is_covered(self, folder: str) -> bool:
        """Whether no code can appear in it unnoticed."""
        ...

    def as_tree(self) -> Mapping[str, Any]:
        """For another process: ``root``, and ``files`` with their digests."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One hook, about to run: what to call, with what, and for how long at most."""

    spec: HookSpec
    event: Event
    call: Call
    settings: Settings
    #: Set from outside to end the job early (a cancelled turn, a closing engine).
    stop: Stop
    #: None for a hook that needs no approval, and for one that an older version approved.
    approved: ApprovedFiles | None = None
    #: Called when its process runs.
    on_start: Callable[[], None] | None = None
    #: Seconds until the caller must have its answer, if the hook's own limit is longer.
    most: float | None = None

    @property
    def timeout(self) -> float | None:
        """Seconds that it may take; None: as long as it likes."""
        own, most = self.spec.timeout, self.most
        return own if most is None or (own is not None and own < most) else most


class Runner(Protocol):
    """One kind of action. A failure is a ``RunResult`` with ``error`` or ``timed_out``, never an exception."""

    def run(self, job: Job) -> RunResult:
        """Run it and wait, at most ``job.timeout`` seconds, cleaning up in every case."""
        ...

    def start(self, job: Job) -> RunResult:
        """Start it without waiting (mode detached). Only ``error`` of the result counts."""
        ...

    def close(self) -> None:
        """Release everything that outlives a single run."""
        ...


def time_limit(spec: HookSpec, event: Event, now: float) -> float | None:
    """Seconds that a hook may take; None: as long as it likes."""
    own = spec.timeout
    if event.until and spec.mode == "sync":
        most = max(event.until - now, MIN_TIMEOUT)
        return most if own is None or own > most else own
    return own if own is None or own < _MAX_TIMEOUT else _MAX_TIMEOUT
