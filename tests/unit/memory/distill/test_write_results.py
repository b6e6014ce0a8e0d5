"""What is left of a session is said once, whole, and can be read by people and programs."""

from __future__ import annotations

import json
import os
import resource
from pathlib import Path

import pytest
import yaml

from hookline.core._dataclass import replace
from hookline.core.errors import StateError
from hookline.memory.distill import write_results
from hookline.memory.distill.answer import DecisionNote, Distilled, FailureNote, Learning
from hookline.memory.distill.rulings import Ruling
from hookline.memory.journal.files import Author, Journal
from hookline.memory.journal.model import text_key
from hookline.memory.journal.views import slug
from hookline.memory.layout import Places
from hookline.memory.notes import entries, handoff, learnings
from hookline.memory.project import find_project

SAID = Distilled(
    decisions=(DecisionNote(summary="Use SQLite", type="tooling", rationale="one file", tags=("db",)),),
    failures=(FailureNote(summary="It ran twice", root_cause="no lock", prevention="lock first"),),
    learnings=(Learning(title='Say "why"\\: first', learning="Because.", context="here", tags=("a", "b: c")),),
    handoff=("write docs", "mend tests"),
)


class Plans:
    """Applies plans in a vault below a temporary directory."""

    def __init__(self, folder: Path) -> None:
        root = str(folder)
        self.places = Places(
            root=root, state=f"{root}/state", sessions=f"{root}/sessions", learnings=f"{root}/learnings"
        )

    def apply(self, plan: write_results.WritePlan) -> list[str]:
        return write_results.apply_plan(plan, self.places)

    def journal(self, plan: write_results.WritePlan) -> Journal:
        return Journal(self.places, find_project(plan.cwd), memory=plan.memory)


@pytest.fixture
def plans(tmp_path: Path) -> Plans:
    return Plans(tmp_path)


@pytest.fixture
def plan(tmp_path: Path) -> write_results.WritePlan:
    return write_results.WritePlan(
        memory=str(tmp_path / "memory/proj-1"), learnings=str(tmp_path / "learnings"), project="proj", session="abc-1",
        agent="codex", moment="2026-11-15T10:00:00+01:00", day="2026-11-15", source_mtime=100.4, results=SAID,
    )  # fmt: skip


def test_everything_stands_where_the_document_says(plans: Plans, plan: write_results.WritePlan) -> None:
    assert plans.apply(plan) == ["1 decisions", "1 failures", "1 learnings", "2 open items"]
    (decision,) = entries.read(os.path.join(plan.memory, "decisions.jsonl"))
    assert (decision.pop("ts")[:2], len(decision.pop("id"))) == ("20", 12)
    assert decision == {
        "summary": "Use SQLite", "type": "decision", "category": "tooling", "context": "", "alternatives": [],
        "rationale": "one file", "tags": ["db"], "project": "proj", "session_id": "abc-1", "agent": "codex",
    }  # fmt: skip
    (failure,) = entries.read(os.path.join(plan.memory, "failures.jsonl"))
    assert (failure["type"], failure["root_cause"], failure["prevention"]) == ("failure", "no lock", "lock first")
    head, _rule, body = Path(plan.memory, "handoff.md").read_text().removeprefix("---\n").partition("---\n")
    assert [line.partition(":")[0] for line in head.splitlines()] == [
        "session_id",
        "written_at",
        "source_mtime",
        "items",
    ]
    assert sorted(line for line in body.splitlines() if line) == [
        "- mend tests",
        "- write docs",
        "Pending for the next session:",
    ]


def test_the_front_matter_of_a_learning_is_yaml_whatever_its_title(plans: Plans, plan: write_results.WritePlan) -> None:
    plans.apply(plan)
    (file,) = Path(plan.learnings).rglob("*.md")
    assert file.relative_to(plan.learnings) == Path(f"{file.name[:7]}/{file.name[:10]}-say-why-first.md")
    _, front, body = file.read_text().split("---\n", 2)
    tree = yaml.safe_load(front)
    assert (tree["title"], tree["tags"], tree["status"]) == ('Say "why"\\: first', ["a", "b: c"], "active")
    assert "## Learning\n\nBecause.\n\n## Context\n\nhere\n" in body
    assert file.stat().st_mode & 0o777 == 0o600


def test_the_same_in_other_words_of_writing_is_the_same(plans: Plans, plan: write_results.WritePlan) -> None:
    plans.apply(plan)
    again = replace(
        SAID,
        decisions=(DecisionNote(summary="  use  SQLITE. "),),
        learnings=(Learning(title="say why first!", learning="x"),),
    )
    assert plans.apply(replace(plan, results=again, session="other")) == []


def test_learnings_that_share_a_file_name_are_two(plans: Plans, plan: write_results.WritePlan) -> None:
    two = Distilled(
        learnings=(
            Learning(title="C++", learning="a"),
            Learning(title="C#?", learning="b"),
            Learning(title="C!", learning="c"),
        )
    )
    plans.apply(replace(plan, results=two))
    assert len(list(Path(plan.learnings).rglob("*.md"))) == len({text_key(one.title) for one in two.learnings})


def test_a_file_of_others_is_kept_line_by_line(plans: Plans, plan: write_results.WritePlan) -> None:
    file = Path(plan.memory, "decisions.jsonl")
    file.parent.mkdir(parents=True)
    before = '{"summary": "older"}\nno json\n{"summary": "torn", "x'
    file.write_text(before)
    plans.apply(plan)
    assert file.read_text().startswith(f"{before}\n")
    assert [one["summary"] for one in entries.read(str(file))] == ["older", "Use SQLite"]


def test_what_a_session_left_can_be_taken_out(plans: Plans, plan: write_results.WritePlan) -> None:
    file = os.path.join(plan.memory, "decisions.jsonl")
    assert entries.forget(file, "abc-1") == 0
    plans.apply(plan)
    plans.apply(replace(plan, session="other", results=Distilled(decisions=(DecisionNote(summary="another"),))))
    with open(file, "a", encoding="utf-8") as more:
        more.write("no json\n")
    assert entries.forget(file, "abc-1") == 1
    assert [one["summary"] for one in entries.read(file)] == ["another"]
    assert Path(file).read_text().endswith("no json\n")


def test_an_item_stays_open_when_a_later_session_does_not_mention_it(
    plans: Plans, plan: write_results.WritePlan
) -> None:
    plans.apply(plan)
    other = replace(plan, session="another", results=Distilled(handoff=("buy milk",)))
    assert plans.apply(other) == ["1 open items"]
    there = {line for line in Path(plan.memory, "handoff.md").read_text().splitlines() if line.startswith("- ")}
    assert there == {"- write docs", "- mend tests", "- buy milk"}


def test_the_handoff_goes_with_the_last_open_item(plans: Plans, plan: write_results.WritePlan) -> None:
    plans.apply(plan)
    closed = tuple(Ruling(op="close", entry=one.id) for one in plans.journal(plan).state().current("open"))
    ended = replace(plan, session="another", results=Distilled(), rulings=closed)
    assert plans.apply(ended) == ["2 closed"]
    assert plans.apply(ended) == []
    assert not Path(plan.memory, "handoff.md").exists()


def test_a_task_that_comes_late_changes_nothing(plans: Plans, plan: write_results.WritePlan) -> None:
    plans.apply(plan)
    late = replace(plan, source_mtime=50.0, results=Distilled(handoff=("older",)))
    assert plans.apply(late) == []
    assert plans.apply(replace(late, session="another")) == ["1 open items"]


def test_a_superseded_decision_names_the_new_one_everywhere(plans: Plans, plan: write_results.WritePlan) -> None:
    old = plans.journal(plan).add("decision", "Use Redis", Author(source="distiller", session="s0"))
    plans.apply(replace(plan, rulings=(Ruling(op="supersede", entry=old.id, by="Use SQLite"),)))
    state = plans.journal(plan).state()
    assert [one.text for one in state.current("decision")] == ["Use SQLite"]
    assert state.entries[state.entries[old.id].successor].text == "Use SQLite"
    lines = {one["summary"]: one.get("status") for one in entries.read(os.path.join(plan.memory, "decisions.jsonl"))}
    assert lines == {"Use Redis": "superseded", "Use SQLite": None}


def test_a_slim_handoff_never_takes_the_place_of_a_full_one(tmp_path: Path) -> None:
    path = str(tmp_path / "handoff.md")

    def slim(prompt: str) -> bool:
        return handoff.write_slim(
            path, prompt=prompt, branch="main", files=["/a.py"], session="s", written="now", source_mtime=1
        )

    assert not slim("")
    assert slim("fix it\n---\n# Git")
    assert slim("again")
    assert not slim("ok, go on")
    assert handoff.is_slim(Path(path).read_text())
    assert "> again\n" in Path(path).read_text()
    assert "- /a.py\n" in Path(path).read_text()
    Path(path).write_text("- rich\n")
    assert not slim("trivial")
    assert Path(path).read_text() == "- rich\n"


def test_insights_are_kept_once(tmp_path: Path) -> None:
    folder = str(tmp_path / "insights")

    def add(*texts: str) -> int:
        return learnings.add_insights(folder, texts, day="2026-11-15", session="abc", short="abc", project="p")

    assert add("one", "two") == 2
    assert add("two ", "three") == 1
    names = sorted(file.name for file in Path(folder).rglob("*.md"))
    assert names == ["2026-11-15-abc-1.md", "2026-11-15-abc-2.md", "2026-11-15-abc-3.md"]


def test_names_of_files_are_plain_letters() -> None:
    assert slug("../../Étude: «x»/..") == "etude-x"
    assert slug("日本語").startswith("learning-")
    assert len(slug("word " * 50)) <= 50


def test_a_full_disk_changes_nothing(plans: Plans, plan: write_results.WritePlan) -> None:
    plans.apply(plan)
    before = plans.journal(plan).state()
    large = Distilled(decisions=tuple(DecisionNote(summary=f"{n} {'x' * 400}") for n in range(20)))
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100, hard))
    try:
        with pytest.raises((OSError, StateError)):
            plans.apply(replace(plan, results=large))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert plans.journal(plan).state() == before
    assert plans.apply(replace(plan, results=large)) == ["20 decisions"]


def test_a_plan_of_another_version_or_half_a_one_is_none(tmp_path: Path, plan: write_results.WritePlan) -> None:
    file = tmp_path / "plan"
    write_results.save_plan(str(file), plan)
    assert write_results.load_plan(str(file)) == plan
    for text in ("", "{}", "[]", json.dumps({"version": 99}), file.read_text()[:-9], '{"version": 1, "results": 3}'):
        file.write_text(text)
        assert write_results.load_plan(str(file)) is None
    assert write_results.load_plan(str(tmp_path / "none")) is None


def test_a_plan_of_another_task_with_the_same_name_is_none(tmp_path: Path, plan: write_results.WritePlan) -> None:
    file = str(tmp_path / "plan")
    write_results.save_plan(file, replace(plan, created="1700000000.250"))
    assert write_results.load_plan(file, "1700000000.250") is not None
    assert write_results.load_plan(file, "1700000000.750") is None
    write_results.save_plan(file, plan)  # of a version that did not write it down
    assert write_results.load_plan(file, "1700000000.750") == plan


def test_bytes_and_breaks_of_others_stay_as_they_are(plans: Plans, plan: write_results.WritePlan) -> None:
    file = Path(plan.memory, "decisions.jsonl")
    file.parent.mkdir(parents=True)
    before = b'{"summary": "caf\xe9"}\n\xff\xfe\n' + '{"summary": "a\u2028b", "session_id": "s2"}\n'.encode()
    file.write_bytes(before)
    plans.apply(plan)
    assert file.read_bytes().startswith(before)
    assert entries.forget(str(file), "abc-1") == 1
    assert file.read_bytes() == before
    assert entries.forget(str(file), "s2") == 1
    assert file.read_bytes() == b'{"summary": "caf\xe9"}\n\xff\xfe\n'
