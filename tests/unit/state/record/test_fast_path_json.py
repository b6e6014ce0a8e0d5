"""The quick writer and the standard library's say the same, and what the one cannot do the other does."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.core._dataclass import dataclass
from hookline.state.record.fast_path import quickest
from hookline.state.record.rows import in_json

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Thing:
    name: str = "thing"


@given(JSON)
def test_both_write_the_same_value_in_ascii(value: Any):
    text = quickest()(value)
    assert text.isascii()
    assert json.loads(text) == json.loads(in_json(value)) == value


@pytest.mark.parametrize(
    "value",
    [
        2**70, {1: "a number for a key"}, MappingProxyType({"a": 1}), {"set": {1}}, Thing(), b"bytes", "\ud800", "ä",
        datetime(2026, 1, 1, tzinfo=UTC), ("a", ("tuple",)),
    ],
    ids=repr,
)  # fmt: skip
def test_what_is_no_plain_json_is_written_as_ever(value: Any):
    assert json.loads(quickest()([value])) == json.loads(in_json([value]))


def test_a_cycle_ends_as_it_does_with_the_standard_library():
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(RecursionError):
        quickest()(cycle)


def test_without_orjson_the_standard_library_writes(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setitem(sys.modules, "orjson", None)
    assert quickest() is in_json
