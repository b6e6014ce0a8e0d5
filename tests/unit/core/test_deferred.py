"""Work that nobody waits for is done after the answer, where there is an afterwards."""

from __future__ import annotations

import threading

from hookline.core.deferred import DEFERRED, defer


def test_without_an_afterwards_it_is_done_at_once() -> None:
    done: list[int] = []
    defer(lambda: done.append(1))
    assert done == [1]


def test_where_somebody_answers_it_is_gathered_and_handed_over_once() -> None:
    done: list[int] = []
    DEFERRED.work = []
    defer(lambda: done.append(1))
    assert done == []
    left, DEFERRED.work = DEFERRED.work, None
    for work in left:
        work()
    assert done == [1]


def test_another_thread_has_its_own() -> None:
    done: list[int] = []
    DEFERRED.work = []
    thread = threading.Thread(target=lambda: defer(lambda: done.append(1)))
    thread.start()
    thread.join()
    assert done == [1]
    assert DEFERRED.work == []
    DEFERRED.work = None
