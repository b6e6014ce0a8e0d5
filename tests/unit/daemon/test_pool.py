from __future__ import annotations

import threading
from functools import partial

import pytest
from tests.patience import eventually

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


def test_threads_that_are_not_needed_any_more_end_all_but_one() -> None:
    pool, together = ThreadPool(patience=0.05), threading.Barrier(9)
    before = threading.active_count()

    def wait() -> None:
        together.wait(60)

    for _ in range(8):
        pool.submit(wait)
    together.wait(60)
    assert eventually(lambda: threading.active_count() <= before + 1)
    for _ in range(8):  # and others come when they are needed
        pool.submit(wait)
    together.wait(60)
    pool.close()
    assert eventually(lambda: threading.active_count() <= before)


def test_work_goes_to_the_thread_that_was_busy_last() -> None:
    pool, together = ThreadPool(), threading.Barrier(4)
    who: list[int] = []

    def wait() -> None:
        together.wait(60)

    for _ in range(3):
        pool.submit(wait)
    together.wait(60)
    for number in range(1, 20):
        eventually(lambda: len(pool._idle) == 3)
        pool.submit(lambda: who.append(threading.get_ident()))
        assert eventually(partial(_as_many, who, number))
    assert len(set(who)) == 1
    pool.close()


def _as_many(things: list[int], number: int) -> bool:
    return len(things) == number
