"""What a model says is found in whatever surrounds it, and nothing of it is believed."""

from __future__ import annotations

import json

import pytest

from hookline.memory.distill.answer import (
    MAX_ENTRIES,
    MAX_LINE,
    DecisionNote,
    Distilled,
    FailureNote,
    Learning,
    UnreadableAnswerError,
    read_answer,
)
from hookline.state.record.redact import Redactor

BARE = '{"decisions": [{"summary": "Use SQLite"}], "handoff": ["write docs"]}'
WANTED = Distilled(decisions=(DecisionNote(summary="Use SQLite"),), handoff=("write docs",))


@pytest.mark.parametrize(
    "text",
    [
        BARE,
        f"\ufeff\n {BARE}\n",
        f"```json\n{BARE}\n```",
        f"```\n{BARE}\n```",
        f"Sure, here it is:\n\n```json\n{BARE}\n```\nAnything else?",
        f"Here is the evaluation: {BARE} I hope it helps.",
        f"I looked at `function() {{}}` and at {{this}}.\n{BARE}",
        f"```json\n{BARE[:20]}\n```\nSorry, again:\n```json\n{BARE}\n```",
        BARE.replace("\n", "\r\n"),
        f'<think>\nMaybe {{"decisions": []}}? No.\n</think>\n\n{BARE}',
        f'{{"result": {BARE}}}',
        f"```js\n{{}}\n```\n{BARE}",
        f'Let me think.\n<think>Maybe {{"handoff": ["no"]}}?</think>\n{BARE}',
        f'Here it is: {{"result": {BARE}}} That is all.',
        "It was `function f() { return { a: 1 } }` again. " * 300 + BARE,
    ],
)
def test_bare_fenced_and_prefaced_objects_are_found(text: str) -> None:
    assert read_answer(text) == WANTED


@pytest.mark.parametrize(
    "text",
    [
        "", " ", "I could not find anything of value.", "[]", "null", "3", '"text"', "[1, 2]", BARE[:-2], "{", "{" * 5000,
        '{"handoff": ' + "[" * 3000, "The code was `if (x) {}` and that was it.", 'I saw {"name": "package"} in it.', "[" * 100_000, "9" * 10_000,
    ],
)  # fmt: skip
def test_what_holds_no_such_object_is_unreadable(text: str) -> None:
    with pytest.raises(UnreadableAnswerError):
        read_answer(text)


def test_an_empty_object_says_that_nothing_is_left() -> None:
    assert read_answer("{}") == Distilled()
    assert read_answer("```json\n{}\n```") == Distilled()


def test_an_object_about_something_else_does_not_say_that_nothing_is_left() -> None:
    for text in ('{"error": {"message": "overloaded"}}', '```json\n{"dcisions": []}\n```', '{"result": {}}'):
        with pytest.raises(UnreadableAnswerError):
            read_answer(text)


def test_one_bad_entry_does_not_cost_the_others() -> None:
    said = read_answer(
        json.dumps({"decisions": [7, None, {}, {"summary": "kept"}, "also kept"], "failures": "one text"})
    )
    assert [one.summary for one in said.decisions] == ["kept", "also kept"]
    assert said.failures == (FailureNote(summary="one text"),)
    assert len(said.notes) == 3


def test_every_field_is_one_line_without_control_characters() -> None:
    said = read_answer(
        json.dumps({"failures": [{"summary": "a\n## Git\r\n\x1b[31mb\u202ec\u2028d\ud800", "prevention": "x\ty"}]})
    )
    assert said.failures == (FailureNote(summary="a ## Git [31mbc d", prevention="x y"),)


def test_a_learning_cannot_bring_headings_or_front_matter() -> None:
    said = read_answer(json.dumps({"learnings": [{"title": "t", "learning": "one\n---\nstatus: x\n# head\nend"}]}))
    assert said.learnings == (Learning(title="t", learning="one\n\\---\nstatus: x\n\\# head\nend"),)


def test_too_much_is_cut() -> None:
    said = read_answer(json.dumps({"decisions": [{"summary": "x" * 10_000}] * 50}))
    assert len(said.decisions) == MAX_ENTRIES
    assert len(said.decisions[0].summary) == MAX_LINE
    assert said.notes == ("30 decisions too many",)


@pytest.mark.parametrize(
    ("handoff", "items"),
    [
        (["a", "b"], ("a", "b")),
        ("- a\n- b\n", ("a", "b")),
        ([{"item": "a", "priority": "high"}], ("a",)),
        ({"items": ["a"]}, ("a",)),
        ("", ()),
        (None, ()),
        (7, ()),
        ([None, 7, "", " "], ()),
        (["1. a", "[ ] b", "* c"], ("a", "b", "c")),
    ],
)
def test_a_handoff_is_a_list_of_lines_in_whatever_form(handoff: object, items: tuple[str, ...]) -> None:
    assert read_answer(json.dumps({"handoff": handoff})).handoff == items


def test_tags_are_words() -> None:
    said = read_answer(
        json.dumps({"decisions": [{"summary": "s", "tags": ["a", 1, None, "a", ["x"]], "alternatives": "b"}]})
    )
    assert said.decisions == (DecisionNote(summary="s", tags=("a", "1"), alternatives=("b",)),)


@pytest.mark.parametrize(
    ("handoff", "items"),
    [
        ({"next_steps": ["x", "y"], "done": ["old"], "blockers": [{"issue": "z"}]}, ("x", "y", "z")),
        ([["x", "y"], ["z"]], ("x", "y", "z")),
        ([{"priority": "high", "item": "do it"}], ("do it",)),
        ([{"prio": "high", "whatever": "the longest says it"}], ("the longest says it",)),
        ({"items": [["- a"], "b"]}, ("a", "b")),
    ],
)
def test_a_handoff_in_another_shape_is_not_taken_for_an_empty_one(handoff: object, items: tuple[str, ...]) -> None:
    assert read_answer(json.dumps({"handoff": handoff})).handoff == items


def test_a_handoff_that_cannot_be_read_is_noted() -> None:
    said = read_answer(json.dumps({"handoff": [7, {"done": ["all"]}]}))
    assert (said.handoff, said.notes) == ((), ("handoff is not a list",))


def test_the_text_of_a_learning_may_be_a_list() -> None:
    said = read_answer(
        json.dumps({"learnings": [{"title": "t", "learning": ["one", "two"]}, {"title": "u", "body": [7.5, {}]}]})
    )
    assert [one.learning for one in said.learnings] == ["one\ntwo", "7.5"]


@pytest.mark.parametrize(
    "said",
    [
        "-----BEGIN OPENSSH PRIVATE KEY----- stands at the top",
        "password=hunter2\\",
        'secret="hunter2',
        "api_key='sk-proj-abcdefghijklmnopq",
    ],
)
def test_a_secret_that_does_not_end_takes_nothing_else_with_it(said: str) -> None:
    answer = {
        "decisions": [{"summary": said}],
        "failures": [{"summary": said, "tags": [said]}],
        "handoff": [said, "last"],
    }
    found = read_answer(json.dumps(answer), Redactor({}, ()).text)
    assert [found.decisions[0].summary[-1], found.failures[0].summary[-1]] == ["]", "]"]
    assert (len(found.handoff), found.handoff[-1]) == (2, "last")


def test_what_is_nested_beyond_reason_costs_only_itself() -> None:
    deep: object = "x"
    for _ in range(300):
        deep = [deep]
    assert read_answer(
        json.dumps({"handoff": [deep, "kept"], "decisions": [{"summary": "d", "context": deep}]})
    ).handoff == ("kept",)


def test_an_entry_of_an_answer_that_was_cut_off_is_not_the_answer() -> None:
    with pytest.raises(UnreadableAnswerError):
        read_answer('{"decisions": [{"summary": "Use SQLite", "supersedes": []}], "handoff": ["wri')
