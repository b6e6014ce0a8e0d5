from __future__ import annotations

import pytest

from hookline.engine.fold import GONE, diff, graft


@pytest.mark.parametrize(
    ("before", "after", "found"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": True}, [(("a",), True)]),
        ({"a": 1}, {"a": 1.0}, [(("a",), 1.0)]),
        ({"a": 1}, {}, [(("a",), GONE)]),
        ({}, {"a": {"b": 1}}, [(("a",), {"b": 1})]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1, "c": 3}}, [(("a", "c"), 3)]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [(("a",), [1, 3])]),
        ({"a": {"b": 1}}, {"a": 7}, [(("a",), 7)]),
        (None, {"a": 1}, [((), {"a": 1})]),
    ],
)
def test_objects_are_branches_and_everything_else_is_a_leaf(before, after, found):
    assert list(diff(before, after, ())) == found


def test_a_leaf_is_put_in_however_deep_and_its_neighbours_stay():
    assert graft({"a": {"x": 1}, "b": 2}, ("a", "y", "z"), 3) == {"a": {"x": 1, "y": {"z": 3}}, "b": 2}


def test_a_leaf_that_is_gone_is_taken_away_and_may_have_been_gone_before():
    assert graft({"a": {"x": 1, "y": 2}}, ("a", "x"), GONE) == {"a": {"y": 2}}
    assert graft({"a": 1}, ("b",), GONE) == {"a": 1}


def test_a_branch_takes_the_place_of_a_leaf():
    assert graft({"a": 1}, ("a", "b"), 2) == {"a": {"b": 2}}
