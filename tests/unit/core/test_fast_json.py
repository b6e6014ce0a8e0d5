"""``fast_json`` is the standard library's ``json``, without what an import of that costs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from hookline.core.fast_json import dumps, loads, reader, writer

VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(VALUES, st.booleans())
def test_it_writes_what_the_standard_library_writes(value: Any, ascii_only: bool) -> None:
    assert dumps(value, ensure_ascii=ascii_only) == json.dumps(value, ensure_ascii=ascii_only)
    assert dumps(value, compact=True) == json.dumps(value, separators=(",", ":"))
    assert writer(sort_keys=True)(value) == json.dumps(value, sort_keys=True)


@given(VALUES, st.text(" \t\r\n"), st.text(" \t\r\n"))
def test_it_reads_what_the_standard_library_reads(value: Any, before: str, after: str) -> None:
    text = before + json.dumps(value) + after
    assert repr(loads(text)) == repr(json.loads(text))


@pytest.mark.parametrize(
    "text", ["", " ", "{", '{"a":}', "[1,]", "1 2", '{"a": 1}\n}', "nul", '"\n"', "\x0b1", "[" * 99_999]
)
def test_a_mistake_is_told_as_the_standard_library_tells_it(text: str) -> None:
    with pytest.raises((ValueError, RecursionError)) as theirs:
        json.loads(text)
    with pytest.raises(theirs.type) as ours:
        loads(text)
    assert str(ours.value) == str(theirs.value)


def test_a_value_that_is_no_json_is_refused() -> None:
    with pytest.raises(TypeError, match="Object of type object is not JSON serializable"):
        dumps({"a": object()})
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(ValueError, match="Circular reference"):
        dumps(cycle)


def test_a_reader_may_say_what_numbers_and_objects_are() -> None:
    read = reader(lambda name: name.lower(), lambda pairs: pairs)
    assert read('{"a": NaN, "a": -Infinity} ') == [("a", "nan"), ("a", "-infinity")]


def test_a_writer_may_say_what_other_values_are() -> None:
    assert writer(str)([b"x"]) == "[\"b'x'\"]"
    assert dumps({1: set()}, default=list) == '{"1": []}'
