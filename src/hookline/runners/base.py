"""What a runner is: something that carries out one action for one event, and never raises.

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
        """Carry it out and wait, at most ``job.spec.timeout`` seconds, cleaning up on every way out."""
        ...

    def start(self, job: Job) -> RunResult:
        """Start it and let go of it (mode detached). Only ``error`` of the answer counts."""
        ...

    def close(self) -> None:
        """Let go of everything that outlives a single run."""
        ...
