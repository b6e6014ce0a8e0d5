"""Turns and claims as pure functions."""

from __future__ import annotations

import pytest

from hookline.core.hook import Gates
from hookline.state.sessions.rules import add_claim, claim_refusal


@pytest.mark.parametrize("limits", [{"debounce": 5.0, "max_per_minute": 0}, {"debounce": 0.0, "max_per_minute": 1}])
def test_of_two_processes_at_once_the_one_whose_event_is_older_may_claim_second_and_is_refused(limits) -> None:
    ran = add_claim((), now=100.02)
    assert claim_refusal(ran, Gates(**limits), 100.0)
    assert add_claim(ran, now=100.0) == (100.02, 100.0)


@pytest.mark.parametrize("limits", [{"debounce": 5.0, "max_per_minute": 0}, {"debounce": 0.0, "max_per_minute": 1}])
def test_a_clock_that_was_set_back_by_more_than_a_minute_locks_nobody_out(limits) -> None:
    assert claim_refusal((1000.0,), Gates(**limits), 900.0) == ""
