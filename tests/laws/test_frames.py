"""However a stream is cut up, what was put on it is what is found on it."""

from __future__ import annotations

import json
from itertools import pairwise

from hypothesis import given, settings
from hypothesis import strategies as st

from hookline.runners.frames import BadLine, LineBuffer, decode, encode, with_head

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=6,
)
messages = st.dictionaries(st.text(max_size=6), values, max_size=4)


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    edges = sorted({0, len(stream), *(place % (len(stream) + 1) for place in places)})
    return [stream[start:end] for start, end in pairwise(edges)]


@given(st.lists(messages, max_size=6), st.lists(st.integers(min_value=0), max_size=12))
@settings(max_examples=100)
def test_any_chunking_decodes_what_was_encoded(sent: list[dict[str, object]], places: list[int]) -> None:
    lines = LineBuffer()
    found = [line for chunk in cut(b"".join(map(encode, sent)), places) for line in lines.feed(chunk)]
    assert [decode(line) for line in found if line is not None] == sent


@given(
    st.lists(st.binary(max_size=20).filter(lambda line: b"\n" not in line), max_size=8),
    st.lists(st.integers(min_value=0), max_size=12),
)
@settings(max_examples=100)
def test_a_line_over_the_limit_is_marked_and_costs_its_neighbours_nothing(sent: list[bytes], places: list[int]) -> None:
    lines = LineBuffer(limit=9)
    stream = b"".join(line + b"\n" for line in sent)
    found = [line for chunk in cut(stream, places) for line in lines.feed(chunk)]
    assert found == [line if len(line) <= 9 else None for line in sent]


@given(messages, st.integers(min_value=0))
@settings(max_examples=50)
def test_a_request_is_the_object_with_its_type_and_number(body: dict[str, object], number: int) -> None:
    body = {name: value for name, value in body.items() if name not in {"type", "id"}}
    assert decode(with_head(encode(body), number)) == {"type": "hook", "id": number, **body}


@given(st.binary(max_size=40))
@settings(max_examples=100)
def test_a_line_is_an_object_or_a_finding_and_nothing_else(line: bytes) -> None:
    try:
        found = decode(line)
    except BadLine:
        return
    assert found == json.loads(line)
