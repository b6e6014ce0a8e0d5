"""Notes are found again: by any text, in their project, as soon as they are written."""

from __future__ import annotations

import json
import os
import sqlite3
import stat
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.memory.note_world import NoteWorld, git

from hookline.memory.context import MemoryContext, memory_context
from hookline.memory.journal.files import Author, Journal
from hookline.memory.notes import index as indexing
from hookline.memory.notes import note_vectors, qmd
from hookline.memory.notes.index import NoteIndex
from hookline.memory.notes.note_files import Note, scopes
from hookline.memory.notes.search import keyword_query, parse_query, search, snippet
from hookline.memory.notes.sentence_model import load_model


@pytest.fixture
def world(tmp_path: Path) -> NoteWorld:
    return NoteWorld(tmp_path)


def desk(world: NoteWorld, cwd: Path | None = None) -> MemoryContext:
    return memory_context(str(cwd or world.project), world.environ)


@contextmanager
def index(world: NoteWorld, *, thorough: bool = False) -> Generator[NoteIndex]:
    here = desk(world)
    with indexing.open_index(here.places, here.clean) as opened:
        opened.sync(here.places, thorough=thorough)
        yield opened


def found(world: NoteWorld, text: str, *, cwd: Path | None = None, everywhere: bool = False) -> list[Note]:
    here = desk(world, cwd)
    with index(world) as opened:
        within = () if everywhere else scopes(here.project, here.here.cwd)
        return search(opened, parse_query(text), scopes=within)


def titles(world: NoteWorld, text: str, *, cwd: Path | None = None, everywhere: bool = False) -> list[str]:
    return [hit.title for hit in found(world, text, cwd=cwd, everywhere=everywhere)]


def remember(world: NoteWorld, *summaries: str, name: str = "decisions.jsonl", cwd: Path | None = None) -> Path:
    here = desk(world, cwd)
    path = Path(here.places.memory(here.project)) / name
    before = path.read_text() if path.exists() else ""
    lines = (json.dumps({"summary": one, "session_id": "s-1", "ts": "2026-04-12T10:00:00+00:00"}) for one in summaries)
    return world.write(path, before + "".join(f"{line}\n" for line in lines))


def learn(world: NoteWorld, title: str, *, scope: str = "universal", name: str = "one") -> Path:
    text = f'---\ntype: learning\ntitle: "{title}"\norigin: proj\nscope: {scope}\n---\n\n## Learning\n\nAlways so.\n'
    return world.write(world.knowledge / f"learnings/2026-04/2026-04-12-{name}.md", text)


# ── what is found ────────────────────────────────────────────────────────────────────────────────────


def test_every_kind_of_note_is_found(world: NoteWorld) -> None:
    world.stop(world.conversation(first="the flaky parser again"))
    remember(world, "The parser is rewritten")
    remember(world, "The parser ran twice", name="failures.jsonl")
    learn(world, "A parser needs a lock")
    assert {hit.kind for hit in found(world, "parser")} == {"session", "decision", "failure", "learning"}


def test_a_note_with_all_the_words_comes_before_one_with_some(world: NoteWorld) -> None:
    remember(world, "cache of tokens", "cache in sqlite", "sqlite for other things")
    assert titles(world, "sqlite cache")[0] == "cache in sqlite"
    assert len(titles(world, "sqlite cache")) == 3


def test_a_word_in_the_title_weighs_more(world: NoteWorld) -> None:
    path = remember(world, "Something else")
    path.write_text(
        json.dumps({"summary": "Something else", "context": "the broker was near"})
        + "\n"
        + json.dumps({"summary": "The broker stays", "context": "nothing of interest"})
        + "\n"
    )
    assert titles(world, "broker") == ["The broker stays", "Something else"]


@pytest.mark.parametrize(
    ("said", "asked"),
    [
        ("The migrations were renamed", "migration rename"),
        ("Größe der Schrift", "grosse schrift größe"),
        ("parse_config is slow", "parse config"),
        ("データベースの移行に失敗した", "移行"),
        ("résumé parser", "resume"),
        ("path/to/file.py breaks", "file.py"),
    ],
)
def test_endings_accents_and_signs_do_not_matter(world: NoteWorld, said: str, asked: str) -> None:
    remember(world, said)
    assert titles(world, asked) == [said]


def test_words_in_quotes_must_follow_one_another(world: NoteWorld) -> None:
    remember(world, "lock before read", "read before lock")
    assert titles(world, '"before read"') == ["lock before read"]


@pytest.mark.parametrize(
    "text", ["", '"', "AND", "NEAR(", "*", "a OR", "title:x", "^", "-", "\0", "\ud800", "'; DROP", "{}"]
)
def test_no_text_breaks_a_search(world: NoteWorld, text: str) -> None:
    remember(world, "anything")
    assert isinstance(titles(world, text), list)


def test_what_is_shown_is_the_place_where_the_words_stand() -> None:
    body = "x " * 500 + "the needle lies here " + "y " * 500
    shown = snippet(body, ["needle"])
    assert "needle lies here" in shown
    assert len(shown) < 170
    assert shown.startswith("…")


# ── where ────────────────────────────────────────────────────────────────────────────────────────────


def test_a_project_finds_its_own_notes_and_all_finds_every(world: NoteWorld) -> None:
    other = world.tmp / "other"
    (other / ".git").mkdir(parents=True)
    (world.project / ".git").mkdir()
    remember(world, "ours of the broker")
    remember(world, "theirs of the broker", cwd=other)
    assert titles(world, "broker") == ["ours of the broker"]
    assert titles(world, "broker", cwd=other) == ["theirs of the broker"]
    assert len(titles(world, "broker", everywhere=True)) == 2


def test_worktrees_and_subdirectories_are_one_project(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "worktree", "add", "-q", str(world.tmp / "tree"))
    (world.project / "sub").mkdir()
    remember(world, "the broker stays")
    assert titles(world, "broker", cwd=world.tmp / "tree") == ["the broker stays"]
    assert titles(world, "broker", cwd=world.project / "sub") == ["the broker stays"]


def test_a_learning_holds_everywhere_unless_it_says_otherwise(world: NoteWorld) -> None:
    learn(world, "Brokers are slow")
    learn(world, "This broker is slow", scope="project", name="two")
    (world.tmp / "other").mkdir()
    assert titles(world, "broker", cwd=world.tmp / "other") == ["Brokers are slow"]
    assert len(titles(world, "broker")) == 2


def test_memory_of_lazy_harness_is_found(world: NoteWorld) -> None:
    name = str(world.project).replace("/", "-")
    line = json.dumps({"summary": "an earlier broker"})
    world.write(world.home / ".claude/projects" / name / "memory/decisions.jsonl", f"{line}\n")
    assert titles(world, "broker") == ["an earlier broker"]


def test_a_common_word_finds_an_old_note_of_a_small_project(world: NoteWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of words that are everywhere only the newest notes are ranked; a project without new ones is not left out."""
    monkeypatch.setattr("hookline.memory.notes.search.CROWD", 3)
    monkeypatch.setattr("hookline.memory.notes.search.NEWEST", 5)
    other = world.tmp / "other"
    other.mkdir()
    remember(world, "the old broker")
    assert titles(world, "broker") == ["the old broker"]
    remember(world, *(f"broker {number}" for number in range(20)), cwd=other)
    assert titles(world, "broker") == ["the old broker"]
    assert len(titles(world, "broker", cwd=other)) == 10


# ── when ─────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_in_the_index_when_its_turn_is_over(world: NoteWorld) -> None:
    world.stop(world.conversation(first="the flaky parser again"))
    here = desk(world)
    with indexing.open_index(here.places, here.clean) as opened:
        assert [hit.title for hit in search(opened, parse_query("flaky"))] == ["the flaky parser again"]


def test_only_what_changed_is_read_again(world: NoteWorld) -> None:
    for number in range(3):
        learn(world, f"title {number}", name=str(number))
    for folder in (world.knowledge / "learnings", world.knowledge / "learnings/2026-04"):
        os.utime(folder, (1, 1))
    here = desk(world)
    with indexing.open_index(here.places, here.clean) as opened:
        assert opened.sync(here.places) == 3
        assert opened.sync(here.places) == 0
        learn(world, "title 7", name="1")
        assert opened.sync(here.places, thorough=True) == 1


def test_a_note_that_is_gone_is_found_no_more(world: NoteWorld) -> None:
    path = learn(world, "Brokers are slow")
    assert titles(world, "broker")
    path.unlink()
    assert titles(world, "broker") == []
    learn(world, "Brokers are slow")
    os.rename(world.knowledge / "learnings", world.knowledge / "elsewhere")
    assert titles(world, "broker") == []


def test_a_directory_may_have_any_name(tmp_path: Path) -> None:
    odd = Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\nb\xff"))
    odd.mkdir()
    world = NoteWorld(odd)
    path = remember(world, "the broker stays")
    (hit,) = found(world, "broker")
    assert hit.path == str(path)
    with index(world) as opened:
        assert opened.session_files("s-1") == [str(path)]
    path.unlink()
    assert titles(world, "broker") == []


def test_a_broken_index_is_made_anew(world: NoteWorld) -> None:
    remember(world, "the broker stays")
    assert titles(world, "broker")
    (world.state / indexing.FILE).write_bytes(b"no database at all" * 400)
    assert titles(world, "broker") == ["the broker stays"]


def test_the_index_is_for_our_eyes_only(world: NoteWorld) -> None:
    remember(world, "the broker stays")
    with index(world):
        for file in world.state.glob(f"{indexing.FILE}*"):
            assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_a_secret_that_another_program_wrote_is_not_in_the_index(world: NoteWorld) -> None:
    key = "ghp_" + "k" * 36
    remember(world, f"the broker has {key}")
    assert (
        titles(world, "broker") == ["the broker has [redacted:github-token]"] or key not in titles(world, "broker")[0]
    )
    assert not any(key.encode() in file.read_bytes() for file in world.state.glob(f"{indexing.FILE}*"))


def test_a_note_that_is_no_text_is_no_failure(world: NoteWorld) -> None:
    world.write(world.knowledge / "sessions/2026-04/2026-04-12-x.md", "").write_bytes(b"\xff\xfe\x00broker\x00\xff")
    os.mkfifo(world.knowledge / "sessions/2026-04/2026-04-13-y.md")
    assert isinstance(found(world, "broker"), list)


# ── at a start ───────────────────────────────────────────────────────────────────────────────────────


def indexed(world: NoteWorld) -> None:
    with index(world):
        pass


def test_a_start_is_told_notes_that_fit_its_branch(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "-b", "feature/token-cache")
    remember(world, "The token cache is kept in SQLite", *(f"unlike {number}" for number in range(5)))
    remember(world, "Colours of the logo", "another thing", "a third thing")
    indexed(world)
    told = world.told()
    assert "## Relevant notes\n- [decision] 2026-04-12: The token cache is kept in SQLite" in told
    assert "logo" not in told.partition("## Relevant")[2].partition("##")[0]


def test_changed_files_and_the_handoff_say_what_it_is_about(world: NoteWorld) -> None:
    world.repository()
    (world.project / "tokenizer_cache.py").write_text("")
    remember(world, "the tokenizer has a cache", *(f"unlike {number}" for number in range(5)))
    remember(world, "the broker drops messages", name="failures.jsonl")
    remember(world, *(f"other {number}" for number in range(5)), name="failures.jsonl")
    here = desk(world)
    world.write(
        Path(here.places.memory(here.project)) / "handoff.md", "---\nsession_id: s\n---\n- the broker drops messages\n"
    )
    indexed(world)
    told = world.told().partition("## Relevant notes")[2].partition("\n##")[0]
    assert "the tokenizer has a cache" in told
    assert "broker" not in told, "what the handoff says is not said again"


def test_one_shared_word_is_not_enough(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "-b", "token-cache")
    remember(world, "A cache of icons", *(f"unlike {number}" for number in range(5)))
    indexed(world)
    assert "## Relevant" not in world.told()


def test_what_recent_history_tells_is_not_told_twice(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "-b", "token-cache")
    remember(world, "The token cache is kept in SQLite")
    indexed(world)
    assert world.told().count("The token cache is kept in SQLite") == 1


def test_a_start_indexes_nothing(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "-b", "token-cache")
    remember(world, "The token cache is kept in SQLite", *(f"unlike {number}" for number in range(5)))
    world.told()
    assert not (world.state / indexing.FILE).exists()


def test_a_damaged_index_costs_a_start_only_that_section(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "-b", "token-cache")
    remember(world, "The token cache is kept in SQLite")
    indexed(world)
    with sqlite3.connect(world.state / indexing.FILE) as broken:
        broken.execute("DROP TABLE words")
    broken.close()
    assert world.told().startswith("## Git")
    assert "error: relevant notes" in world.log()


def test_qmd_is_asked_too(world: NoteWorld, tmp_path: Path) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "-b", "token-cache")
    asked = tmp_path / "asked"
    program = world.write(
        tmp_path / "bin/qmd",
        f'#!/bin/sh\necho "$@" > {asked}\necho \'[{{"title": "A vault note", "file": "qmd://notes/a.md"}}, 7]\'\n',
    )
    program.chmod(0o755)
    world.environ["PATH"] = f"{tmp_path / 'bin'}:{world.environ['PATH']}"
    assert "## Relevant notes\n- [A vault note](qmd://notes/a.md)" in world.told()
    assert asked.read_text().startswith("search token cache")


def test_a_qmd_that_hangs_or_babbles_is_not_waited_for(
    world: NoteWorld, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(qmd.finish_search, "__defaults__", (1.0,))
    world.repository()
    git(world.project, "checkout", "-q", "-b", "token-cache")
    world.environ["PATH"] = f"{tmp_path / 'bin'}:{world.environ['PATH']}"
    for body in ("sleep 600", "echo nonsense", "exit 3", "echo '{}'", "echo '[[], {\"file\": 3}]'"):
        world.write(tmp_path / "bin/qmd", f"#!/bin/sh\n{body}\n").chmod(0o755)
        assert "Relevant" not in world.told()


def test_telling_words_leave_out_what_every_branch_is_called() -> None:
    assert keyword_query(["feature/token-cache", "fix the cache of 12 tests"]).words == ["token", "cache"]


# ── meaning, status and filters ──────────────────────────────────────────────────────────────────────


def journal(world: NoteWorld) -> Journal:
    here = desk(world)
    return Journal(here.places, here.project, here.here.cwd)


PERSON = Author(source="person")


@pytest.fixture(params=["with weights", "without weights"])
def _model(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    if request.param == "without weights":
        monkeypatch.setattr(note_vectors, "load_model", lambda: None)
    elif load_model() is None:
        pytest.skip("the extra memory is not installed")


@pytest.mark.usefixtures("_model")
def test_a_note_is_found_by_other_words(world: NoteWorld) -> None:
    remember(world, "Login needs a second factor", "Invoices are numbered per year", "The logo is blue")
    assert titles(world, "authentication")[:1] == ["Login needs a second factor"]


@pytest.mark.usefixtures("_model")
def test_what_was_superseded_comes_after_its_successor_and_never_first(world: NoteWorld) -> None:
    book = journal(world)
    old = book.add("decision", "Sessions are kept in Redis", PERSON)
    new = book.add("decision", "Logins live in signed cookies", PERSON)
    book.change("supersede", old, PERSON, by=new.id)
    gone = book.add("failure", "Redis sessions were lost", PERSON)
    book.change("retire", gone, PERSON)
    hits = found(world, "Redis sessions")
    assert [(hit.title, hit.status) for hit in hits[:2]] in (
        [("Logins live in signed cookies", "current"), ("Sessions are kept in Redis", "superseded")],
        [("Logins live in signed cookies", "current"), ("Redis sessions were lost", "retired")],
    )
    order = [hit.entry for hit in hits]
    assert order.index(new.id) < order.index(old.id)
    assert hits[order.index(old.id)].successor == new.id


def test_an_edit_and_a_status_are_in_the_index_at_once(world: NoteWorld) -> None:
    book = journal(world)
    entry = book.add("open", "Ask about the licence", PERSON)
    assert [hit.kind for hit in found(world, "licence")] == ["open"]
    book.change("edit", entry, PERSON, text="Ask legal about the licence")
    book.change("close", entry, PERSON)
    (hit,) = found(world, "licence")
    assert (hit.title, hit.status) == ("Ask legal about the licence", "closed")


def test_filters_restrict_what_is_found(world: NoteWorld) -> None:
    book = journal(world)
    book.add("decision", "Cache of tokens", Author(source="agent", agent="codex"), at="2026-01-02T00:00:00.000Z")
    book.add("failure", "Cache was stale", Author(source="agent", agent="claude-code"), at="2026-03-02T00:00:00.000Z")
    old = book.add("decision", "Cache on disk", PERSON, at="2026-03-03T00:00:00.000Z")
    book.change("retire", old, PERSON)

    def only(**filters: Any) -> set[str]:
        with index(world) as opened:
            return {hit.title for hit in search(opened, parse_query("cache"), **filters)}

    assert only(agent="codex") == {"Cache of tokens"}
    assert only(kinds=("failure",)) == {"Cache was stale"}
    assert only(since="2026-03-01") == {"Cache was stale", "Cache on disk"}
    assert only(status="current") == {"Cache of tokens", "Cache was stale"}
    assert only(status="retired") == {"Cache on disk"}


@pytest.mark.usefixtures("_model")
@pytest.mark.parametrize("asked", ['"lock_timeout"', "`lock_timeout`", "lock_timeout", "what of lock_timeout?"])
def test_a_name_finds_the_note_that_has_it(world: NoteWorld, asked: str) -> None:
    remember(world, "Locks have a timeout", "Set lock_timeout to 2s", "A timeout of a lock is an error")
    assert titles(world, asked)[0] == "Set lock_timeout to 2s"


def test_only_new_notes_are_embedded(world: NoteWorld) -> None:
    if load_model() is None:
        pytest.skip("the extra memory is not installed")
    remember(world, "one thing", "another thing")
    with index(world, thorough=True) as opened:
        assert opened.vectors.embed(10) == 0
    remember(world, "a third thing")
    with index(world) as opened:
        assert (opened.vectors.embed(10), opened.vectors.embed(10)) == (1, 0)
        assert opened.vectors.nearest("third thing", indexing.Only(), 5)


def test_a_note_that_stays_as_it_is_keeps_its_vector(world: NoteWorld) -> None:
    if load_model() is None:
        pytest.skip("the extra memory is not installed")
    book = journal(world)
    book.add("decision", "Use SQLite for the queue", PERSON)
    with index(world, thorough=True):
        pass
    book.add("decision", "Invoices are numbered per year", PERSON)  # in the same file
    with index(world) as opened:
        assert opened.vectors.embed(10) == 1
        assert opened.vectors.nearest("where do we keep jobs", indexing.Only(), 5)


@pytest.mark.usefixtures("_model")
def test_the_first_question_of_the_manual_is_answered(world: NoteWorld) -> None:
    book = journal(world)
    book.add("decision", "Use SQLite for the queue", PERSON, details={"rationale": "one file, no server"})
    book.add("open", "Ask legal about the licence", PERSON)
    assert titles(world, "where do we store jobs") == ["Use SQLite for the queue"]


def test_a_forgotten_session_leaves_no_vector(world: NoteWorld) -> None:
    if load_model() is None:
        pytest.skip("the extra memory is not installed")
    remember(world, "one thing")
    with index(world, thorough=True) as opened:
        assert opened.vectors.nearest("thing", indexing.Only(), 5)
        opened.forget("s-1")
        assert opened.vectors.nearest("thing", indexing.Only(), 5) == {}
