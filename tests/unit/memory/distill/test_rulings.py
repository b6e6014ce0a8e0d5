"""A distiller may be wrong, hostile or tricked: what it wants is done only where the session bears it out."""

from __future__ import annotations

import json
from typing import Any

import pytest

from hookline.core._dataclass import replace
from hookline.memory.distill.answer import Distilled, Mention, read_answer
from hookline.memory.distill.digest import Digest, keywords
from hookline.memory.distill.rulings import Ruling, judge, new_items
from hookline.memory.journal.model import Entry, Kind
from hookline.transcripts import About


def entry(id_: str, text: str, kind: Kind = "open", **more: Any) -> Entry:
    made = Entry(id=id_, kind=kind, text=text, source="distiller", created=f"2026-11-0{id_[-1]}")
    return replace(made, **more)


def session(*texts: str) -> Digest:
    last = tuple(("user", text) for text in texts)
    return Digest(about=About(agent="codex"), last=last, words=frozenset(keywords(" ".join(texts))))


OPEN = [entry("e1", "write the upgrade guide"), entry("e2", "rotate the staging certificate")]
REDIS = entry("e3", "Keep sessions in Redis", "decision")
GUIDE = session("The upgrade guide is finished now, I checked every step.")


def said(tree: object) -> Distilled:
    return read_answer(json.dumps(tree))


def test_an_item_that_the_session_finished_is_closed() -> None:
    rulings, notes = judge(said({"closes": [1]}), OPEN, GUIDE)
    assert (rulings, notes) == ([Ruling(op="close", entry="e1")], [])


def test_a_distiller_that_closes_everything_closes_only_what_the_session_was_about() -> None:
    rulings, _notes = judge(said({"closes": [1, 2]}), OPEN, GUIDE)
    assert [(one.op, one.entry, one.wants) for one in rulings] == [("close", "e1", ""), ("question", "e2", "close")]


def test_a_quotation_that_the_session_does_not_have_is_no_ground() -> None:
    invented = {"closes": [{"number": 2, "evidence": "the staging certificate was rotated"}]}
    (ruling,), _notes = judge(said(invented), OPEN, GUIDE)
    assert (ruling.op, ruling.wants) == ("question", "close")


def test_numbers_that_do_not_exist_are_noted() -> None:
    assert judge(said({"closes": [9, 0, -1, "x"], "supersedes": [77]}), OPEN, GUIDE) == (
        [],
        ["there is no entry 77", "there is no entry 9"],
    )


def test_an_item_that_is_closed_and_open_at_once_stays_open() -> None:
    assert judge(said({"closes": [1], "still_open": [1]}), OPEN, GUIDE) == (
        [],
        ["1 is both closed and open: it stays open"],
    )


@pytest.mark.parametrize("more", [{"source": "person"}, {"pinned": True}])
def test_what_a_person_wrote_or_pinned_is_only_asked_about(more: dict[str, Any]) -> None:
    own = entry("e1", "write the upgrade guide", **more)
    (ruling,), _notes = judge(said({"closes": [1]}), [own], GUIDE)
    assert (ruling.op, ruling.wants) == ("question", "close")


def test_a_reversed_decision_is_superseded_by_the_new_one() -> None:
    new = {"decisions": [{"summary": "Keep sessions in Postgres", "supersedes": [1]}]}
    rulings, _notes = judge(said(new), [REDIS], session("Redis loses our sessions, let us move them."))
    assert rulings == [Ruling(op="supersede", entry="e3", by="Keep sessions in Postgres")]


def test_one_new_entry_supersedes_a_few_at_most() -> None:
    known = [entry(f"e{n}", f"cache rule {n}", "decision") for n in range(1, 8)]
    new = {"decisions": [{"summary": "No cache at all", "supersedes": [1, 2, 3, 4, 5, 6, 7]}]}
    rulings, _notes = judge(said(new), known, session("the cache rule"))
    assert [one.op for one in rulings] == ["supersede"] * 3 + ["question"] * 4


def test_an_open_item_is_not_superseded() -> None:
    new = {"decisions": [{"summary": "The upgrade guide is a video", "supersedes": [1]}]}
    (ruling,), _notes = judge(said(new), OPEN, GUIDE)
    assert (ruling.op, ruling.wants) == ("question", "supersede")


def test_nothing_is_superseded_by_nothing() -> None:
    (ruling,), _notes = judge(said({"supersedes": [1]}), [REDIS], session("Redis"))
    assert (ruling.op, ruling.wants) == ("question", "supersede")


def test_the_later_of_two_entries_that_mean_the_same_is_the_duplicate() -> None:
    known = [entry("e1", "use SQLite for the cache", "decision"), entry("e2", "the cache is SQLite", "decision")]
    for pair in ({"number": 1, "of": 2}, {"number": 2, "of": 1}, [1, 2], [2, 1]):
        rulings, _notes = judge(said({"duplicates": [pair]}), known, session("x"))
        assert rulings == [Ruling(op="duplicate", entry="e2", by="e1")]


@pytest.mark.parametrize("given", [3, "3", "#3", "[3] write it", {"number": 3}, {"item": "[3]"}, {"id": 3}, "item 3"])
def test_numbers_are_understood_in_any_shape(given: object) -> None:
    assert said({"still_open": [given]}).still_open == (Mention(number=3),)
    assert said({"still_open": given}).still_open == (Mention(number=3),)


@pytest.mark.parametrize("given", [None, True, "none", {}, [[]], [{}], {"number": None}, "99999999", -3])
def test_what_is_no_number_is_nothing(given: object) -> None:
    assert said({"closes": given, "handoff": []}).closes == ()


def test_an_item_in_nearly_the_same_words_is_not_opened_twice() -> None:
    items = ["Write the guide for the upgrade", "buy milk", "Buy the milk"]
    assert new_items(items, OPEN) == ["buy milk"]
