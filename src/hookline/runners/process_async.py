"""One child from start to end under a running event loop, without blocking it or a thread.

All that ``ProcessRun`` listens to is gathered in one epoll, which is itself a descriptor: the loop watches that one and
nothing else, and two runs never fight over a descriptor that both listen to.
"""

from __future__ import annotations

import asyncio
import select
from collections.abc import Callable

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
    ears = select.epoll()
    watch = ProcessRun(launch, settings, stop, seconds, ears)

    def leave() -> None:
        watch.finish()
        ears.close()
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


async def _until_over(watch: ProcessRun, ears: select.epoll) -> None:
    loop = asyncio.get_running_loop()
    waiting: asyncio.Future[None] | None = None

    def wake() -> None:
        if waiting is not None and not waiting.done():
            waiting.set_result(None)

    loop.add_reader(ears.fileno(), wake)
    ready, moments = ears.poll(0), _MOMENTS
    try:
        while (patience := watch.step(ready)) != OVER:
            if watch.leaving and moments:
                moments -= 1
                ready = ears.poll(_MOMENT)
                continue
            waiting = loop.create_future()
            timer = None if patience is None else loop.call_later(patience, wake)
            try:
                await waiting
            finally:
                if timer is not None:
                    timer.cancel()
            ready = ears.poll(0)
    finally:
        loop.remove_reader(ears.fileno())


def _see_out(watch: ProcessRun, ears: select.epoll, leave: Callable[[], None]) -> None:
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
