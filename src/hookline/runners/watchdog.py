"""The deadline of functions that run in our own threads.

One watchdog thread sleeps until the nearest deadline, and raises ``HookTimeout`` in a thread that overran. A call
costs two dictionary operations: the watchdog is woken only if the new deadline is nearer than what it sleeps for.

What it cannot do: interrupt a C function that does not return to Python. ``time.sleep`` and other system calls are
interrupted in the main thread after ``install_interrupt``; in other threads the exception waits for their end.
"""

from __future__ import annotations

import os
import threading
from collections.abc import Callable
from contextlib import suppress
from math import inf
from threading import get_ident
from time import monotonic, sleep
from types import FrameType

from hookline.core.typed import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    import signal
else:
    import _signal as signal  # the module around it makes an enum of every number first

_Argument = TypeVar("_Argument")
_Value = TypeVar("_Value")

#: Seconds after which a function that swallowed the exception gets it again.
_AGAIN = 0.1
#: How often it may swallow it before a program of our own gives up.
_PATIENCE = 20


class HookTimeout(BaseException):
    """Raised inside a function at its deadline. No ``Exception``, so that an ``except Exception`` lets it pass."""


class _Guard:
    """One call in progress. Read and written by two threads, each field by plain assignment."""

    __slots__ = ("deadline", "fired", "settled", "thread", "times")

    thread: int
    deadline: float
    fired: bool
    settled: bool
    times: int


_new_guard = object.__new__


class _Watchdog:
    """Holds the deadlines of any number of threads, nested calls included."""

    __slots__ = ("_asked", "_asleep_until", "_bell", "_give_up", "_guards", "_interrupt", "_starting", "_thread")

    def __init__(self) -> None:
        self._reset()
        self._interrupt = False
        self._give_up: Callable[[], object] | None = None
        # The thread does not survive a fork; the next call in the child starts another.
        os.register_at_fork(after_in_child=self._reset)

    def _reset(self) -> None:
        self._guards: dict[_Guard, None] = {}
        #: inf while nobody sleeps: then every new deadline rings the bell.
        self._asleep_until = inf
        self._asked = 0.0
        #: Locked while nothing has happened. Not an Event: its lock is taken in Python code, and an exception that is
        #: delivered in there would leave it locked for ever. Here ringing is one call of C.
        self._bell = threading.Lock()
        self._bell.acquire()
        self._starting = threading.Lock()
        self._thread: threading.Thread | None = None

    def call(self, function: Callable[[_Argument], _Value], argument: _Argument, seconds: float | None) -> _Value:
        """``function(argument)`` in this thread; raises ``HookTimeout`` if it takes longer.

        No exception of the watchdog is ever raised after this has returned: either the guard was gone before the
        watchdog looked (then it does not raise), or ``fired`` was set before the guard was gone (then we take the
        exception back). The interpreter delivers exceptions at calls and jumps only, so there is no place for one
        between the making of the guard and its entry, or between the end of the function and the ``del``.
        """
        if seconds is None:
            return function(argument)
        deadline = monotonic() + seconds
        guard = _new_guard(_Guard)  # a constructor would take as long as all the rest
        guard.thread, guard.deadline, guard.fired, guard.settled, guard.times = get_ident(), deadline, False, True, 0
        try:
            self._guards[guard] = None
            if deadline < self._asleep_until:
                self._ring(deadline)
            return function(argument)
        finally:
            try:
                del self._guards[guard]
            except KeyError:  # a child that the function forked came back: it would go on as a second one of us
                os._exit(0)
            if guard.fired:
                self._take_back(guard)

    def install_interrupt(self, give_up: Callable[[], object] | None = None) -> None:
        """Let system calls of the main thread be interrupted. Takes SIGALRM, unless somebody else has it already.

        ``give_up`` is called, in the watchdog's thread, when a function holds the main thread and ignores everything.
        """
        if signal.getsignal(signal.SIGALRM) == signal.SIG_DFL:
            signal.signal(signal.SIGALRM, _wake_up)
        self._interrupt = True
        self._give_up = give_up

    def _ring(self, deadline: float) -> None:
        self._asked = deadline
        if self._thread is None:
            with self._starting:
                if self._thread is None:
                    thread = threading.Thread(target=self._watch, name="hookline-watchdog", daemon=True)
                    # Kept before it starts: its first act may be to raise right here, and there must be only one.
                    self._thread = thread
                    thread.start()
        try:
            self._bell.release()
        except RuntimeError:  # it has been rung already
            return

    def _watch(self) -> None:
        while True:
            # First inf, then the list: a call that is added after the list wakes us.
            self._asleep_until = inf
            now = monotonic()
            # Mostly the call that rang is over by now. To sleep until its deadline all the same costs nothing, while
            # to sleep for ever would let the next call ring again, and so every call.
            nearest = self._asked if self._asked > now else inf
            for guard in list(self._guards):
                if guard.deadline <= now:
                    self._fire(guard)
                    guard.deadline = now + _AGAIN
                nearest = min(nearest, guard.deadline)
            self._asleep_until = nearest
            wait = min(nearest - monotonic(), threading.TIMEOUT_MAX)
            self._bell.acquire(timeout=max(0.0, wait))

    def _fire(self, guard: _Guard) -> None:
        guard.settled = False
        guard.fired = True
        if guard in self._guards:
            _raise_in(guard.thread, HookTimeout)
            # Checked again: code that installed a handler since would receive our signal.
            ours = self._interrupt and signal.getsignal(signal.SIGALRM) is _wake_up
            if ours and guard.thread == threading.main_thread().ident:
                signal.pthread_kill(guard.thread, signal.SIGALRM)
        guard.settled = True
        guard.times += 1
        if guard.times >= _PATIENCE and self._give_up is not None and guard.thread == threading.main_thread().ident:
            self._give_up()

    def _take_back(self, guard: _Guard) -> None:
        """Replace what may still be waiting for this thread by an exception that is caught here.

        To ask Python 3.11 to forget it would do, but leaves every thread looking for an exception at every call from
        then on: that takes half as long again, and under a tracer a function is never entered.
        If an outer call's exception is taken back with it, the watchdog raises that one again.
        """
        while not guard.settled:
            sleep(0)
        with suppress(HookTimeout):
            _raise_in(guard.thread, HookTimeout)
            while True:  # it comes at the latest at the first jump
                pass


def _wake_up(_number: int, _frame: FrameType | None) -> None:
    """Does nothing: on its first instruction the exception that is waiting for this thread is raised."""


def _raise_in(thread: int, exception: type[BaseException]) -> None:
    import ctypes  # costs milliseconds that only an overrun has to pay

    ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(thread), ctypes.py_object(exception))


#: One for the process: a thread has one place for an exception from outside, so two watchdogs would fight over it.
WATCHDOG = _Watchdog()


def install_interrupt(give_up: Callable[[], object] | None = None) -> None:
    """For ``hookline.cli``: make the deadline hold in system calls of the main thread too."""
    WATCHDOG.install_interrupt(give_up)
