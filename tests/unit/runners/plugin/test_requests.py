"""Whose answer it is: without any plugin."""

from __future__ import annotations

from hookline.runners.plugin.requests import PendingRequest, RequestTable


def sent(requests: RequestTable, count: int) -> list[PendingRequest]:
    waiting = [PendingRequest(deadline=0.0) for _ in range(count)]
    for pending in waiting:
        requests.number(pending)
    return waiting


def test_an_answer_belongs_to_the_request_that_it_names() -> None:
    requests = RequestTable()
    first, second = sent(requests, 2)
    assert requests.answer({"type": "hook_result", "id": 2, "data": 1}, "text")
    assert (first.message, second.message, second.text) == (None, {"data": 1}, "text")


def test_an_answer_without_a_name_belongs_to_the_oldest_request_even_if_nobody_waits_for_that_one() -> None:
    requests = RequestTable()
    late, second = sent(requests, 2)
    requests.abandon(late)
    assert not requests.answer({"said": "too late"}, "")
    assert requests.answer({"said": "in time"}, "")
    assert (late.message, second.message) == (None, {"said": "in time"})


def test_an_answer_to_nothing_is_dropped() -> None:
    requests = RequestTable()
    (only,) = sent(requests, 1)
    assert [requests.answer({"id": odd}, "") for odd in (7, "1", [1], 1.5)] == [False] * 4
    assert only.message is None
    assert not RequestTable().answer({}, "")


def test_what_was_posted_or_forgotten_is_not_open() -> None:
    requests = RequestTable()
    assert requests.number(None) == 1
    assert not requests
    number = requests.number(PendingRequest(deadline=0.0))
    assert requests
    requests.forget(number)
    assert (bool(requests), number) == (False, 2)


def test_only_so_many_abandoned_requests_are_remembered_and_those_that_wait_always() -> None:
    requests = RequestTable()
    waits, *others = sent(requests, 200)
    for pending in others:
        requests.abandon(pending)
    assert requests.answer({"id": 1}, "")
    assert waits.message == {}
    dropped = 0
    while requests:
        dropped += not requests.answer({}, "")
    assert dropped == 64
