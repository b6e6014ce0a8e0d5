"""One child from start to end under a running event loop, without blocking it or a thread.

The loop only says that something has happened; what it was, a poll says, which goes on where there is no loop any more.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable
from weakref import WeakKeyDictionary

from hookline.core.result import RunResult
from hookline.core.settings import Settings
from hookline.runners.base import Stop
from hookline.runners.process import OVER, ProcessRun
from hookline.runners.spawn import Launch

#: A program that closes an output is mostly ending. To wait so many seconds for that right here, at most so many
#: times, holds the loop up for less than another turn of it would take.
_MOMENT, _MOMENTS = 0.001, 3


async def run_process_async(
    launch: Launch, *, seconds: float | None, settings: Settings, stop: Stop, afterwards: Callable[[], None]
) -> RunResult:
    """Like ``run_process``. A cancelled caller returns at once; its child is ended in the background, as ``stop`` would
    end it, and ``afterwards`` is called when nothing of it is left."""
    ears = Ears()
    watch = ProcessRun(launch, settings, stop, seconds, ears)

    def leave() -> None:
        ears.leave_loop()
        watch.finish()
        afterwards()

    try:
        watch.start()
    except OSError as error:
        leave()
        return watch.not_started(error)
    try:
        await _until_over(watch, ears)
    except asyncio.CancelledError:
        stop.set()
        _in_the_background(lambda: _see_out(watch, ears, leave), leave)
        raise
    except BaseException:
        leave()
        raise
    if watch.orderly:
        leave()
    else:
        await asyncio.to_thread(leave)  # what was killed needs a moment to be gone
    return watch.raw()


class _Switchboard:
    """One epoll for every run under a loop, which watches it as one descriptor: to tell a loop of each descriptor takes
    longer than to read what it has to say."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.epoll = select.epoll()
        self.ears: dict[int, list[Ears]] = {}
        loop.add_reader(self.epoll.fileno(), self._ring)

    def _ring(self) -> None:
        for descriptor, _ in self.epoll.poll(0):
            for ears in self.ears[descriptor]:
                ears.wake()


#: Loops are few, and end with their runs; nothing is in one of these while nothing runs.
_SWITCHBOARDS: WeakKeyDictionary[asyncio.AbstractEventLoop, _Switchboard] = WeakKeyDictionary()


class Ears:
    """A poll whose descriptors the running loop watches too, until ``leave_loop``."""

    def __init__(self) -> None:
        self._poll = select.poll()
        self._loop = loop = asyncio.get_running_loop()
        self._board = _SWITCHBOARDS.get(loop) or _SWITCHBOARDS.setdefault(loop, _Switchboard(loop))
        self._watched: set[int] = set()
        self._waiting: asyncio.Future[None] | None = None

    def register(self, descriptor: int, events: int) -> None:
        self._poll.register(descriptor, events)
        self._watched.add(descriptor)
        if (others := self._board.ears.get(descriptor)) is not None:  # one stop may be for several runs
            others.append(self)
        else:
            self._board.epoll.register(descriptor, events)
            self._board.ears[descriptor] = [self]

    def unregister(self, descriptor: int) -> None:
        self._poll.unregister(descriptor)
        if descriptor in self._watched:
            self._watched.discard(descriptor)
            self._hang_up(descriptor)

    def leave_loop(self) -> None:
        for descriptor in self._watched:
            self._hang_up(descriptor)
        self._watched.clear()

    def _hang_up(self, descriptor: int) -> None:
        listening = self._board.ears[descriptor]
        listening.remove(self)
        if not listening:
            self._board.epoll.unregister(descriptor)
            del self._board.ears[descriptor]

    def poll(self, seconds: float | None) -> list[tuple[int, int]]:
        return self._poll.poll(None if seconds is None else seconds * 1000)

    async def wait(self, seconds: float | None) -> None:
        self._waiting = self._loop.create_future()
        timer = None if seconds is None else self._loop.call_later(seconds, self.wake)
        try:
            await self._waiting
        finally:
            if timer is not None:
                timer.cancel()

    def wake(self) -> None:
        if self._waiting is not None and not self._waiting.done():
            self._waiting.set_result(None)


async def _until_over(watch: ProcessRun, ears: Ears) -> None:
    ready, moments = ears.poll(0), _MOMENTS
    try:
        while (patience := watch.step(ready)) != OVER:
            if watch.leaving and moments:
                moments -= 1
                ready = ears.poll(_MOMENT)
            else:
                await ears.wait(patience)
                ready = ears.poll(0)
    finally:
        ears.leave_loop()


def _see_out(watch: ProcessRun, ears: Ears, leave: Callable[[], None]) -> None:
    """The rest of the run without the loop: SIGTERM, the grace, SIGKILL."""
    try:
        patience: float | None = 0.0
        while patience != OVER:
            patience = watch.step(ears.poll(patience))
    finally:
        leave()


def _in_the_background(work: Callable[[], None], at_once: Callable[[], None]) -> None:
    """In a thread that the end of the loop waits for; at once if the loop has already ended."""
    try:
        asyncio.get_running_loop().run_in_executor(None, work)
    except RuntimeError:
        at_once()
