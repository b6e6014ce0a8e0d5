"""As much MessagePack as Neovim needs."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.editor.msgpack import IncompleteError, NotMessagePackError, pack, unpack

values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(1 << 63), (1 << 64) - 1)
    | st.floats(allow_nan=False)
    | st.text(st.characters(exclude_categories=["Cs"]), max_size=300),
    lambda inner: st.lists(inner, max_size=20) | st.dictionaries(st.text(max_size=40, alphabet="abcäß"), inner, max_size=20),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=100)
@given(values)
def test_what_is_packed_comes_back(value: Any) -> None:
    data = pack(value)
    assert unpack(data + b"rest") == (value, len(data))


@settings(max_examples=60)
@given(values, st.integers(0, 1000))
def test_a_beginning_is_incomplete_and_never_wrong(value: Any, cut: int) -> None:
    data = pack(value)
    if cut < len(data):
        with pytest.raises(IncompleteError):
            unpack(data[:cut])


@settings(max_examples=100)
@given(st.binary(max_size=200))
def test_any_bytes_are_a_value_or_one_of_two_errors(data: bytes) -> None:
    with suppress(IncompleteError, NotMessagePackError):
        unpack(data)


@pytest.mark.parametrize("size", [31, 32, 255, 256, 65535, 65536])
def test_every_length_has_its_form(size: int) -> None:
    assert unpack(pack("x" * size))[0] == "x" * size
    assert unpack(pack([1] * size))[0] == [1] * size


def test_a_bomb_is_refused_without_memory_or_stack() -> None:
    with pytest.raises(IncompleteError):
        unpack(b"\xdd\xff\xff\xff\xff" + b"\x01")
    with pytest.raises(NotMessagePackError):
        unpack(b"\x91" * 100_000)
    with pytest.raises(NotMessagePackError):
        unpack(b"\xc1")


def test_handles_of_neovim_are_read_over() -> None:
    assert unpack(b"\x92\xd4\x00\x07\x01")[0] == [b"\x07", 1]
