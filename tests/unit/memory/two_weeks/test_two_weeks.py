"""Two weeks are lived through: nothing stale is told, nothing open is lost, and no question is asked twice."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.memory.two_weeks.simulation import (
    Babbles,
    ClosesEverything,
    Distiller,
    Honest,
    Repeats,
    TwoWeeks,
    story,
)


def test_two_weeks(tmp_path: Path) -> None:
    weeks = TwoWeeks(tmp_path, Honest())
    figures = weeks.live(story())
    assert figures.sessions >= 40
    assert figures.stale == []
    assert figures.lost == []
    assert figures.calls / figures.sessions <= 1.1
    assert figures.fitting >= 0.9 * figures.told
    assert figures.recalled >= 0.75 * figures.wanted
    for project in ("bakery", "library", "tram"):
        state = weeks.state(project)
        expected = {text for (owner, _key), text in weeks.open.items() if owner == project}
        assert {one.text for one in state.current("open")} == expected
        assert {one.text for one in state.entries.values() if one.status == "superseded"} == weeks.history[project]


@pytest.mark.parametrize(("distiller", "calls"), [(ClosesEverything(), 1.1), (Babbles(), 2.1), (Repeats(), 1.1)])
def test_hostile_distillers_lose_and_open_nothing(tmp_path: Path, distiller: Distiller, calls: float) -> None:
    weeks = TwoWeeks(tmp_path, distiller)
    figures = weeks.live(story()[:18])
    assert figures.lost == []
    assert figures.calls / figures.sessions <= calls
    for project in ("bakery", "library", "tram"):
        there = {one.text for one in weeks.state(project).current("open")}
        assert there == {text for (owner, _key), text in weeks.open.items() if owner == project}
        known = {one.text for one in weeks.state(project).entries.values()}
        assert {text for (owner, _key), text in weeks.truth.items() if owner == project} <= known
