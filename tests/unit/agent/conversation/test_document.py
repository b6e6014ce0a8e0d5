"""Where a message begins and ends."""

from __future__ import annotations

import pytest

from hookline.agent.conversation.document import Block, UserText, read_body, read_conversation
from hookline.core.errors import DataError


def shape(body: str, *names: str) -> list[str]:
    return [
        f"{item.name}: {item.content.strip()}" if isinstance(item, Block) else item.text.strip()
        for item in read_body(body, names)
    ]


def test_every_block_is_preceded_by_what_the_person_said_even_if_that_is_nothing() -> None:
    assert shape(":::A\nx\n:::\n:::B\ny\n:::\nmore") == ["", "A: x", "", "B: y", "more"]


def test_a_file_that_ends_with_a_block_has_no_last_message() -> None:
    assert shape("Hi\n:::A\nx\n:::\n\n") == ["Hi", "A: x"]


def test_an_unclosed_block_runs_to_the_end() -> None:
    assert shape("Hi\n:::A\nx\n\ny") == ["Hi", "A: x\n\ny"]


def test_more_colons_hold_fewer() -> None:
    assert shape("::::A\nx\n:::\ny\n::::\nz") == ["", "A: x\n:::\ny", "z"]


@pytest.mark.parametrize("name", ["My Bot", "a.b", "x[y]", "ünï-0_9"])
def test_a_known_name_is_read_back_whatever_it_looks_like(name: str) -> None:
    assert shape(f"Hi\n:::{name}\nx\n:::", name) == ["Hi", f"{name}: x"]


def test_a_label_and_attributes_are_not_the_answer() -> None:
    assert shape("Hi\n:::A[label]{k=v}\nx\n:::") == ["Hi", "A: x"]


def test_a_block_in_the_persons_code_or_comment_is_theirs() -> None:
    for text in ("```\n:::A\nx\n:::\n```", "<!--\n:::A\nx\n:::\n-->"):
        assert shape(f"Look:\n\n{text}\n\nSee?") == [f"Look:\n\n{text}\n\nSee?"]


def test_colons_in_closed_code_of_an_answer_do_not_end_it() -> None:
    assert shape("Hi\n:::A\n```\n:::\n```\nend\n:::\nmore", "A") == ["Hi", "A: ```\n:::\n```\nend", "more"]


def test_code_that_a_cut_off_answer_left_open_does_not_reach_into_the_next_message() -> None:
    body = "Hi\n:::A\n```py\ncut\n:::\nPlease go on:\n```\ncode\n```\n:::A\ny\n:::"
    assert shape(body, "A") == ["Hi", "A: ```py\ncut", "Please go on:\n```\ncode\n```", "A: y"]


def test_line_ends_of_another_system_are_nobodys_words() -> None:
    read = read_conversation("---\r\na: 1\r\n---\r\nHi\r\n:::A\r\n\r\nx\r\n\r\n:::\r\n")
    assert read.items == (UserText(text="\nHi"), Block(name="A", content="x\n"))


def test_a_header_that_is_not_closed_is_refused() -> None:
    with pytest.raises(DataError, match="not closed"):
        read_conversation("---\na: 1\n")
