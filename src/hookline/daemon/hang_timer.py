"""Ends the daemon when a call of C lets no thread of it run any more: an expression that never comes to an end, say.

No thread of ours can notice that, and no handler of a signal: both need the interpreter, which is held. So two timers of
the system run towards the end of the process, and the timekeeper winds them again while it gets its turns. One counts
the time that the process computes, so that neither a busy machine nor a daemon that is stopped for a while ends it; the
other one is for a call that waits, and far longer. The handler of both is the interpreter's own, written in C: it
writes down where every thread is, and lets the signal do what it does.
"""

from __future__ import annotations

import faulthandler
import signal

#: Seconds of computing without a turn of the timekeeper that end the daemon: clients are gone after two.
_BURNT = 5.0
#: Seconds by the clock.
_SILENT = 60.0
#: Seconds between two windings.
_AGAIN = 1.0


class HangTimer:
    """Without a file to write to, nothing is watched."""

    __slots__ = ("_again", "_stands")

    def __init__(self, file: int | None = None) -> None:
        self._stands = file is not None
        self._again = 0.0
        if file is not None:
            for number in (signal.SIGPROF, signal.SIGALRM):
                faulthandler.register(number, file=file, all_threads=True, chain=True)

    def wind(self, now: float) -> None:
        """Whoever calls this has a turn; from any thread, and cheap as often as one likes."""
        if self._stands and now >= self._again:
            self._again = now + _AGAIN
            signal.setitimer(signal.ITIMER_PROF, _BURNT)
            signal.setitimer(signal.ITIMER_REAL, _SILENT)

    def rest(self, seconds: float) -> None:
        """The timekeeper sleeps for so long. A daemon without work may be stopped for as long as anybody likes."""
        if self._stands:
            self._again = 0.0
            signal.setitimer(signal.ITIMER_PROF, seconds + _BURNT)
            signal.setitimer(signal.ITIMER_REAL, 0)
