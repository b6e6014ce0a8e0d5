from __future__ import annotations

from itertools import permutations
from typing import Any

from hookline.core._dataclass import replace
from hookline.memory.journal.model import Change, Op, fold


def change(id_: str, op: Op, entry: str, number: int, at: str = "2026-11-01T08:00:00.000Z", **data: Any) -> Change:
    return Change(id=id_, op=op, entry=entry, number=number, at=at, data=data)


def added(entry: str, text: str, kind: str = "decision", at: str = "2026-11-01T08:00:00.000Z") -> Change:
    return change(f"add-{entry}", "add", entry, 0, at, kind=kind, text=text, project="app-1")


def test_a_superseded_entry_names_its_successor_and_keeps_its_text() -> None:
    changes = [added("a", "Use Redis"), added("b", "Use SQLite"), change("c", "supersede", "a", 1, by="b")]
    old = fold(changes).entries["a"]
    assert (old.status, old.successor, old.text, old.is_current) == ("superseded", "b", "Use Redis", False)


def test_the_order_in_which_files_are_read_changes_nothing() -> None:
    changes = [
        added("a", "Use Redis"), added("b", "Use SQLite"), change("c", "supersede", "a", 1, by="b"),
        change("d", "reopen", "a", 2), change("e", "edit", "b", 1, text="Use SQLite in WAL mode"),
    ]  # fmt: skip
    assert len({str(fold(order)) for order in permutations(changes)}) == 1


def test_a_change_that_is_read_twice_counts_once() -> None:
    changes = [added("a", "write docs", "open"), change("c", "close", "a", 1)]
    assert fold([*changes, *changes]) == fold(changes)


def test_a_clock_that_was_set_back_does_not_undo_what_came_later() -> None:
    changes = [
        added("a", "write docs", "open"), change("c", "close", "a", 1, "2026-11-05T08:00:00.000Z"),
        change("d", "reopen", "a", 2, "2020-01-01T00:00:00.000Z"),
    ]  # fmt: skip
    assert fold(changes).entries["a"].is_current


def test_two_edits_of_one_note_both_stay() -> None:
    edits = [change("c", "edit", "a", 1, text="Use Redis 7"), change("d", "edit", "a", 1, text="Use Valkey")]
    entry = fold([added("a", "Use Redis"), *edits]).entries["a"]
    assert (entry.text, entry.rivals) == ("Use Valkey", ("Use Redis 7", "Use Valkey"))


def test_a_later_edit_settles_two_rivals() -> None:
    edits = [
        change("c", "edit", "a", 1, text="Redis 7"), change("d", "edit", "a", 1, text="Valkey"),
        change("e", "edit", "a", 3, text="Valkey 8"),
    ]  # fmt: skip
    entry = fold([added("a", "Use Redis"), *edits]).entries["a"]
    assert (entry.text, entry.rivals) == ("Valkey 8", ())


def test_a_person_who_has_seen_two_rivals_settles_them_with_a_pin() -> None:
    both = [change("c", "edit", "a", 1, text="Redis 7"), change("d", "edit", "a", 1, text="Valkey")]
    one_seen, both_seen = (
        fold([added("a", "Use Redis"), *both, replace(change("p", "pin", "a", number), source="person")])
        for number in (2, 3)
    )
    assert one_seen.entries["a"].rivals
    assert not both_seen.entries["a"].rivals


def test_what_two_machines_learned_in_the_same_words_is_one_entry() -> None:
    late = "2026-11-02T08:00:00.000Z"
    state = fold([added("a", "Use SQLite."), added("b", "use sqlite", at=late)])
    assert [one.id for one in state.current()] == ["a"]
    assert (state.entries["b"].status, state.entries["b"].successor) == ("duplicate", "a")


def test_a_closed_item_that_comes_up_again_is_open() -> None:
    late = "2026-11-02T08:00:00.000Z"
    state = fold([added("a", "mend CI", "open"), change("c", "close", "a", 1), added("b", "mend CI", "open", late)])
    assert [one.id for one in state.current("open")] == ["b"]


def test_a_question_stays_until_the_entry_changes() -> None:
    asked = [added("a", "mend CI", "open"), change("c", "question", "a", 1, wants="close")]
    assert fold(asked).entries["a"].question == asked[1]
    assert fold([*asked, change("d", "pin", "a", 2)]).entries["a"].question is None


def test_a_change_of_an_unknown_entry_is_kept_out() -> None:
    assert fold([change("c", "close", "gone", 1)]).entries == {}
    assert fold([replace(added("a", "x"), data={"kind": 7, "text": ["x"]})]).entries["a"].text == ""
