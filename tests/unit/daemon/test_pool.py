from __future__ import annotations

import threading
from collections.abc import Callable
from queue import SimpleQueue

import pytest

from hookline.daemon.pool import ThreadPool


def test_where_no_thread_can_be_had_whoever_is_free_next_takes_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, go, done = ThreadPool(), threading.Event(), threading.Semaphore(0)
    started = threading.Event()

    def first() -> None:
        started.set()
        go.wait(60)

    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    pool.submit(first)
    assert started.wait(60)
    with monkeypatch.context() as patch:
        patch.setattr(threading.Thread, "start", refused)
        for _ in range(300):  # more often than there may be threads
            pool.submit(done.release)
    go.set()

    assert all(done.acquire(timeout=60) for _ in range(300))
    held = threading.Barrier(3)

    def wait() -> None:
        held.wait(60)

    for _ in range(2):
        pool.submit(wait)
    held.wait(60)  # there can be two at once again
    pool.close()


def test_a_pool_that_never_had_a_thread_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(_thread: threading.Thread) -> None:
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Thread, "start", refused)
    with pytest.raises(RuntimeError):
        ThreadPool().submit(lambda: None)


class _Lingering(SimpleQueue[Callable[[], None] | None]):
    """Whoever has taken something is a while on the way with it."""

    def __init__(self) -> None:
        self.taken, self.go_on = threading.Event(), threading.Event()

    def get(self, block: bool = True, timeout: float | None = None) -> Callable[[], None] | None:
        work = super().get(block, timeout)
        self.taken.set()
        assert self.go_on.wait(60)
        return work


def test_who_is_on_the_way_with_work_is_not_thought_free(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.daemon.pool.SimpleQueue", _Lingering)
    pool, both = ThreadPool(), threading.Barrier(3)
    queue = pool._work
    assert isinstance(queue, _Lingering)

    def meet() -> None:
        both.wait(60)

    pool.submit(meet)
    assert queue.taken.wait(60)
    pool.submit(meet)
    queue.go_on.set()

    both.wait(60)
    pool.close()


def test_work_that_comes_after_the_end_is_done_too() -> None:
    pool, done = ThreadPool(), threading.Event()
    pool.submit(lambda: None)
    pool.close()
    pool.submit(done.set)

    assert done.wait(60)
    pool.close()


def test_over_the_limit_work_waits_for_its_turn() -> None:
    pool, go, done = ThreadPool(most=2), threading.Event(), threading.Semaphore(0)

    def wait() -> None:
        go.wait(60)

    for _ in range(2):
        pool.submit(wait)
    for _ in range(20):
        pool.submit(done.release)
    assert not done.acquire(blocking=False)
    go.set()

    assert all(done.acquire(timeout=60) for _ in range(20))
    pool.close()
