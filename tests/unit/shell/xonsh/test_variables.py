"""Values of variables as hooks get them."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.shell.xonsh.variables import to_json


@pytest.mark.parametrize(
    ("value", "known"),
    [(7, 7), (0.5, 0.5), (True, True), (10**5000, hex(10**5000)), (float("nan"), "nan"), ([float("-inf")], ["-inf"])],
    ids=["int", "float", "bool", "long", "nan", "infinite"],  # a long one has no name
)
def test_every_number_is_one_that_json_has_or_a_text(value: Any, known: Any) -> None:
    assert to_json(value) == known
    assert json.loads(json.dumps(to_json(value), allow_nan=False)) == known
