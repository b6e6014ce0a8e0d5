from __future__ import annotations

import json
from pathlib import Path

import pytest

from hookline.core._dataclass import replace
from hookline.memory.journal.files import Author, Journal, machine_name, parse_change
from hookline.memory.journal.views import refresh
from hookline.memory.layout import Places
from hookline.memory.project import Project

PERSON = Author(source="person")
DISTILLER = Author(source="distiller", agent="codex", session="s1")
APP = Project(name="app", root="/app", key="/app", folder="app-1", earlier=("app-0",))


@pytest.fixture
def places(tmp_path: Path) -> Places:
    root = str(tmp_path / "vault")
    return Places(root=root, state=str(tmp_path / "state"), sessions=f"{root}/sessions", learnings=f"{root}/learnings")


@pytest.fixture
def journal(places: Places) -> Journal:
    return Journal(places, APP)


def test_an_entry_is_there_for_the_next_reader(places: Places, journal: Journal) -> None:
    made = journal.add("decision", "Use SQLite", DISTILLER, details={"rationale": "one file"})
    assert list(Journal(places, APP).state().entries.values()) == [made]
    assert (made.source, made.agent, made.session, made.project) == ("distiller", "codex", "s1", "app-1")


def test_a_killed_worker_that_tries_again_adds_nothing(journal: Journal) -> None:
    first = journal.add("decision", "Use SQLite", DISTILLER)
    journal.change("close", first, PERSON)
    assert journal.add("decision", "Use SQLite", DISTILLER).id == first.id
    assert len(journal.state().entries) == 1


def test_half_a_line_costs_only_itself(places: Places, journal: Journal) -> None:
    journal.add("open", "first", PERSON)
    file = next(Path(places.root).rglob("journal/*.jsonl"))
    with file.open("a") as end:
        end.write('{"v":1,"op":"add","entry":"x","da')
    journal.add("open", "second", PERSON)
    assert [one.text for one in journal.state().current()] == ["first", "second"]


@pytest.mark.parametrize("line", ["", "[]", "7", "{}", '{"op":"explode"}', '{"op":"add","number":"1"}', "\0" * 9])
def test_a_line_that_is_no_change_is_skipped(line: str) -> None:
    assert parse_change(line) is None


def test_each_state_directory_has_its_own_machine_name(tmp_path: Path) -> None:
    one, other = machine_name(str(tmp_path / "a")), machine_name(str(tmp_path / "b"))
    assert one == machine_name(str(tmp_path / "a")) != other


def test_what_earlier_versions_left_is_read_and_can_be_changed(places: Places, journal: Journal) -> None:
    memory = Path(places.root, "memory/app-0")
    memory.mkdir(parents=True)
    old = {"ts": "2026-04-12T18:32:00+02:00", "type": "decision", "summary": "Use Redis", "session_id": "s0"}
    (memory / "decisions.jsonl").write_text(json.dumps(old) + "\nnot json\n")
    (memory / "handoff.md").write_text("---\nsession_id: s0\n---\n\nPending:\n\n- write docs\n")
    found = {one.kind: one for one in journal.state().entries.values()}
    assert (found["decision"].text, found["decision"].created) == ("Use Redis", "2026-04-12T16:32:00.000Z")
    assert found["open"].text == "write docs"
    new = journal.add("decision", "Use SQLite", DISTILLER)
    journal.change("supersede", found["decision"], DISTILLER, by=new.id)
    assert [one.text for one in journal.state().current("decision")] == ["Use SQLite"]


def test_a_view_is_not_read_as_a_second_entry(places: Places, journal: Journal) -> None:
    for kind, text in (("decision", "Use SQLite"), ("failure", "It ran twice"), ("open", "docs")):
        journal.add(kind, text, DISTILLER)  # type: ignore[arg-type]
    journal.add("learning", "Locks first", DISTILLER, details={"learning": "Take it."}, everywhere=True)
    state = refresh(places, journal, "app", "s1", 5.0)
    assert journal.state() == state
    assert len(state.entries) == 4
    assert refresh(places, journal, "app", "s1", 5.0) == state


def test_notes_link_an_entry_to_its_successor(places: Places, journal: Journal) -> None:
    old = journal.add("decision", "Use Redis", DISTILLER, details={"session_note": "2026-11-01-s1"})
    new = journal.add("decision", "Use SQLite", DISTILLER, details={"rationale": "one file", "tags": ["db"]})
    journal.change("supersede", old, DISTILLER, by=new.id)
    refresh(places, journal, "app")
    before, after = sorted(Path(places.root).rglob("decisions/*.md"))
    assert f"- Superseded by: [[{after.stem}]]" in before.read_text()
    assert "- Session: [[2026-11-01-s1]]" in before.read_text()
    assert "status: superseded" in before.read_text()
    assert f"- Supersedes: [[{before.stem}]]" in after.read_text()
    line = json.loads(Path(places.root, "memory/app-1/decisions.jsonl").read_text().splitlines()[0])
    assert (line["status"], line["superseded_by"]) == ("superseded", new.id)


def test_a_hand_edit_of_a_note_becomes_a_change(places: Places, journal: Journal) -> None:
    made = journal.add("decision", "Use SQLite", DISTILLER, details={"rationale": "one file"})
    refresh(places, journal, "app")
    note = next(Path(places.root).rglob("decisions/*.md"))
    note.write_text(note.read_text().replace("# Use SQLite", "# Use SQLite in WAL mode"))
    entry = refresh(places, journal, "app").entries[made.id]
    assert (entry.text, entry.changes[-1].op, entry.changes[-1].source) == ("Use SQLite in WAL mode", "edit", "person")
    assert refresh(places, journal, "app").entries[made.id] == entry


def test_a_status_that_a_person_writes_counts(places: Places, journal: Journal) -> None:
    made = journal.add("failure", "It ran twice", DISTILLER)
    refresh(places, journal, "app")
    note = next(Path(places.root).rglob("failures/*.md"))
    note.write_text(note.read_text().replace("status: current", "status: retired"))
    assert refresh(places, journal, "app").entries[made.id].status == "retired"


def test_lines_of_the_handoff_can_be_removed_and_added_by_hand(places: Places, journal: Journal) -> None:
    journal.add("open", "write docs", DISTILLER)
    journal.add("open", "mend CI", DISTILLER)
    refresh(places, journal, "app")
    file = Path(places.root, "memory/app-1/handoff.md")
    file.write_text(file.read_text().replace("- write docs\n", "- ask Ana about the logo\n"))
    state = refresh(places, journal, "app")
    assert {one.text: one.source for one in state.current("open")} == {
        "mend CI": "distiller",
        "ask Ana about the logo": "person",
    }
    assert refresh(places, journal, "app").current() == journal.state().current()
    assert len(journal.state().current("open")) == 2


def test_a_deprecated_learning_of_an_earlier_version_is_not_current(places: Places, journal: Journal) -> None:
    folder = Path(places.learnings, "2026-04")
    folder.mkdir(parents=True)
    (folder / "2026-04-12-x.md").write_text('---\ntitle: "Old way"\nstatus: deprecated\n---\n\n# Old way\n')
    (folder / "2026-04-13-y.md").write_text('---\ntitle: "New way"\nstatus: active\n---\n\n# New way\n')
    assert [one.text for one in journal.state().current("learning")] == ["New way"]


def test_a_repository_that_got_a_remote_keeps_its_entries(places: Places, journal: Journal) -> None:
    before = Journal(places, replace(APP, folder="app-0", earlier=()))
    before.add("open", "write docs", PERSON)
    assert [(one.text, one.project) for one in journal.state().current()] == [("write docs", "app-1")]


GOOD = {
    "op": "add",
    "entry": "ab12",
    "number": 0,
    "at": "2026-01-01T00:00:00.000Z",
    "source": "person",
    "data": {"text": "t"},
}


@pytest.mark.parametrize(
    "odd",
    [
        {"op": ["add"]},
        {"op": {}},
        {"source": {}},
        {"source": [1]},
        {"entry": "a\0b"},
        {"entry": "\x1b[2J"},
        {"entry": "../../x"},
        {"entry": "a\nb"},
        {"entry": ""},
        {"entry": "a" * 65},
        {"at": "\x1b]0;x\x07"},
        {"at": "9" * 41},
        {"number": "0"},
    ],
)
def test_a_line_that_nobody_of_ours_wrote_is_no_change(journal: Journal, odd: dict[str, object]) -> None:
    """A vault may be shared: one line of another machine must not end memory here, nor write to a terminal."""
    made = journal.add("decision", "Use SQLite", PERSON)
    folder = Path(journal.memory) / "journal"
    (folder / "2026-01-01-other.jsonl").write_text(json.dumps({**GOOD, **odd}) + "\n")
    assert list(journal.state().entries) == [made.id]
    (folder / "2026-01-01-other.jsonl").write_text(json.dumps(GOOD) + "\n")
    assert list(journal.state().entries) == ["ab12", made.id]


def test_a_project_that_is_no_name_is_this_one(journal: Journal) -> None:
    journal.add("decision", "Use SQLite", PERSON)
    line = {**GOOD, "data": {"text": "t", "project": [1]}}
    (Path(journal.memory) / "journal/2026-01-01-other.jsonl").write_text(json.dumps(line) + "\n")
    assert journal.state().entries["ab12"].project == journal.folder
