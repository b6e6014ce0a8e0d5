from __future__ import annotations

import threading

import pytest

from hookline.daemon.pool import Pool


def test_where_no_thread_can_be_had_whoever_is_free_next_takes_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    pool, go, done = Pool(), threading.Event(), threading.Semaphore(0)
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
        Pool().submit(lambda: None)
