"""What a runner is: it runs one action for one event, and never raises.

Runners block. The synchronous door calls them in its own thread; the asynchronous one hands them to a
thread. This way the process handling exists once, and a cold run needs no event loop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from hookline.core.event import Event
    from hookline.core.hook import HookSpec
    from hookline.core.result import RunResult
    from hookline.core.settings import Settings
    from hookline.dialects.base import Call
    from hookline.runners.cancel import Stop


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One hook, about to run: what to call, with what, and for how long at most."""

    spec: HookSpec
    event: Event
    call: Call
    settings: Settings
    #: Set from outside to end the job early (a cancelled turn, a closing engine).
    stop: Stop


class Runner(Protocol):
    """One kind of action. A failure is a ``RunResult`` with ``error`` or ``timed_out``, never an exception."""

    def run(self, job: Job) -> RunResult:
        """Run it and wait, at most ``job.spec.timeout`` seconds, cleaning up in every case."""
        ...

    def start(self, job: Job) -> RunResult:
        """Start it without waiting (mode detached). Only ``error`` of the result counts."""
        ...

    def close(self) -> None:
        """Release everything that outlives a single run."""
        ...
