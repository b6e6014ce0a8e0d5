"""Run a coroutine under a deadline, in its own event loop."""

from __future__ import annotations

import asyncio
import threading
from typing import TYPE_CHECKING, TypeVar

from hookline.llm.names import ModelError

if TYPE_CHECKING:
    from collections.abc import Coroutine
    from typing import Any, Protocol

    class Stop(Protocol):
        def is_set(self) -> bool: ...
        def fileno(self) -> int: ...


_T = TypeVar("_T")


class _StoppedError(ModelError):
    """The work was stopped from outside."""


def run_bounded(work: Coroutine[Any, Any, _T], *, timeout: float | None, stop: Stop) -> _T:
    """The result of ``work``; ``TimeoutError`` at the deadline, ``_StoppedError`` when ``stop`` is set first."""
    if stop.is_set():
        work.close()
        raise _StoppedError("stopped before it began")
    if _inside_a_loop():
        return _in_a_thread(work, timeout=timeout, stop=stop)
    loop = asyncio.new_event_loop()
    try:
        return loop.run_until_complete(_watched(work, timeout, stop))
    finally:
        _let_go(loop)


def _inside_a_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def _in_a_thread(work: Coroutine[Any, Any, _T], *, timeout: float | None, stop: Stop) -> _T:
    """For a caller inside a running loop: one thread cannot run two loops."""
    results: list[_T] = []
    errors: list[BaseException] = []

    def run() -> None:
        try:
            results.append(run_bounded(work, timeout=timeout, stop=stop))
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=run, name="hookline-model")
    thread.start()
    thread.join()
    if errors:
        raise errors[0]
    return results[0]


async def _watched(work: Coroutine[Any, Any, _T], timeout: float | None, stop: Stop) -> _T:  # noqa: ASYNC109  # None is no limit, which asyncio.timeout takes too
    loop = asyncio.get_running_loop()
    task = loop.create_task(work)
    stopped = False

    def end() -> None:
        nonlocal stopped
        stopped = True
        loop.remove_reader(stop.fileno())
        task.cancel()

    loop.add_reader(stop.fileno(), end)
    try:
        async with asyncio.timeout(timeout):
            return await task
    except asyncio.CancelledError:
        if stopped:
            msg = "stopped from outside"
            raise _StoppedError(msg) from None
        raise
    finally:
        loop.remove_reader(stop.fileno())


def _let_go(loop: asyncio.AbstractEventLoop) -> None:
    """Like the end of ``asyncio.run``, except that it does not wait for threads: a name server that does not
    answer must not hold up a hook beyond its deadline."""
    left = asyncio.all_tasks(loop)
    for task in left:
        task.cancel()
    if left:
        loop.run_until_complete(asyncio.gather(*left, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
