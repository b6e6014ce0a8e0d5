from __future__ import annotations

import pytest
from tests.recording import MemoryRecorder

from hookline.core.result import NO_OPINION, Failed, Replied, Reply, RunResult, Skipped, TimedOut
from hookline.state.record import NullRecorder, query
from hookline.state.record.query import Counts, HookStats


@pytest.fixture
def filled(store, firing, replied):
    store.write(firing(replied("a"), id="1", time=10, session="x"))
    store.write(firing(replied("b"), id="2", time=20, session="y", event="Stop", effect="deny"))
    store.write(firing(Failed(id="id-a", hook="a", error="boom"), replied("b"), id="3", time=30, session="x"))
    store.write(firing(Skipped(id="id-a", hook="a", error="gate"), id="4", time=40, session="x", effect="ask"))
    return store


@pytest.mark.parametrize(
    ("filters", "found"),
    [
        ({}, "1234"),
        ({"last": 2}, "34"),
        ({"last": 0}, ""),
        ({"last": None, "after": 2}, "34"),
        ({"session": "x"}, "134"),
        ({"event": "Stop"}, "2"),
        ({"effect": "deny"}, "2"),
        ({"effect": "ask", "session": "x"}, "4"),
        ({"effect": "allow"}, "13"),
        ({"since": 20, "until": 40}, "23"),
        ({"hook": "b"}, "23"),
        ({"hook": "id-a"}, "134"),
        ({"hook": "a", "status": "failed"}, "3"),
        ({"status": "skipped"}, "4"),
        ({"status": "replied", "last": 2}, "23"),
        ({"status": "failed", "effect": "allow"}, "3"),
        ({"hook": "nobody"}, ""),
        ({"hook": "a", "effect": "ask"}, "4"),
    ],
)
def test_filters_hold_together_and_the_newest_is_last(filled, filters, found) -> None:
    assert "".join(row.id for row in query.firings(filled, **filters)) == found


def test_a_firing_is_found_by_the_beginning_of_its_id(filled, firing) -> None:
    filled.write(firing(id="abc1"))
    filled.write(firing(id="abc2"))
    assert [row.id for row in query.find(filled, "abc")] == ["abc1", "abc2"]
    assert [row.id for row in query.find(filled, "abc1")] == ["abc1"]
    assert query.find(filled, "zzz") == []


def test_runs_come_in_declared_order(filled) -> None:
    runs = query.load_runs(filled, [3, 99])
    assert [(run.hook, run.status, run.error) for run in runs[3]] == [("a", "failed", "boom"), ("b", "replied", "")]
    assert runs[99] == ()


def test_statistics_count_real_runs_and_look_at_the_latest(store, firing, replied) -> None:
    for number in range(1, 101):
        store.write(firing(replied("a", ms=float(number), effect="deny"), time=float(number)))
    store.write(firing(TimedOut(id="id-a", hook="a", ms=999.0, error="late"), time=200))
    store.write(firing(Skipped(id="id-a", hook="a"), Skipped(id="id-b", hook="b"), time=300))
    assert query.stats(store, {"id-a": "a", "id-b": "b"}) == {
        "id-a": HookStats(fired=101, failures=1, last_time=200, p50=51.0, p95=96.0, last_effect=None)
    }


@pytest.mark.parametrize("quiet", [False, True])
def test_a_hook_has_no_part_in_the_figures_of_the_one_whose_place_it_took(store, firing, quiet) -> None:
    raw = {"raw": RunResult(), "reply": NO_OPINION} if quiet else {"reply": Reply(effect="deny")}
    store.write(firing(Replied(id="id", hook="before", ms=9.0, **raw), time=1))
    assert query.stats(store, {"id": "after"}) == {}
    store.write(firing(Replied(id="id", hook="after", ms=2.0, **raw), time=2))
    store.write(firing(Failed(id="id", hook="before", ms=5.0, error="boom"), time=3))
    found = query.stats(store, {"id": "after"})["id"]
    assert (found.fired, found.failures, found.last_time, found.p50) == (1, 0, 2, 2.0)
    before = query.stats(store, {"id": "before"})["id"]
    assert (before.fired, before.failures, before.last_time) == (2, 1, 3)


def test_counts_tell_the_day_at_a_glance(filled) -> None:
    counted = query.counts(filled, since=15)
    assert counted == Counts(firings=4, denies=1, failures=1, bytes=filled.size())
    assert query.counts(filled, since=31).failures == 0
    assert counted.bytes > 0


def test_the_recorder_in_memory_keeps_the_latest(firing, replied) -> None:
    recorder = MemoryRecorder(limit=2)
    first, second, third = firing(id="1"), firing(id="2"), firing(id="3")
    assert [recorder.write(record) for record in (first, second, third)] == ["1", "2", "3"]
    assert recorder.records == [second, third]
    assert NullRecorder().write(first) is None
