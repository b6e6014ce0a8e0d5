"""When a session is distilled again, and when not."""

from __future__ import annotations

from functools import partial

import pytest

from hookline.memory.queue.enqueue import skip_reason

NOW = 1_000_000.0
gate = partial(skip_reason, now=NOW, waiting_since=(), ended=(), grown=NOW, debounce=60.0, growth=120.0)


def test_a_session_that_was_never_queued_passes() -> None:
    assert gate() == ""


@pytest.mark.parametrize(
    ("age", "reason"), [(0, "debounce"), (59, "debounce"), (61, ""), (-59, "debounce"), (-3600, "")]
)
def test_a_task_that_waits_holds_up_another_for_a_minute_even_if_the_clock_jumped(age: float, reason: str) -> None:
    assert gate(waiting_since=[NOW - age]) == reason


@pytest.mark.parametrize(
    ("growth", "reason"), [(100, "no new activity"), (119.9, "no new activity"), (120, ""), (130, "")]
)
def test_a_transcript_must_have_grown_since_the_last_task(growth: float, reason: str) -> None:
    assert gate(ended=[NOW - 1000], grown=NOW - 1000 + growth) == reason


def test_the_newest_ended_task_counts() -> None:
    assert gate(ended=[NOW - 1000, NOW - 10]) == "no new activity"


def test_a_task_of_the_future_holds_nothing_up() -> None:
    assert gate(ended=[NOW + 86400]) == ""
    assert gate(ended=[NOW + 86400, NOW - 10]) == "no new activity"
