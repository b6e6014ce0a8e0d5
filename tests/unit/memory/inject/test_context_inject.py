"""What a session is told when it begins. Numbers in names are those of lazy-harness's cases."""

from __future__ import annotations

import json
import os
import time
from typing import TYPE_CHECKING

import pytest
from tests.approval import approve_project
from tests.unit.memory.note_world import git

from hookline.core._dataclass import replace
from hookline.memory.inject.context_inject import Section, context_inject, fit_sections

if TYPE_CHECKING:
    from pathlib import Path

    from tests.unit.memory.note_world import NoteWorld


def entries(*summaries: str) -> str:
    return "".join(json.dumps({"ts": f"2026-01-0{n}", "summary": one}) + "\n" for n, one in enumerate(summaries, 1))


# ── the repository ───────────────────────────────────────────────────────────────────────────────────


def test_13_an_empty_directory_is_a_new_project(world: NoteWorld) -> None:
    assert world.told() == "New project, no prior context."
    assert world.banner() == "Session context loaded (new project)"


def test_14_what_is_uncommitted_is_counted(world: NoteWorld) -> None:
    world.repository()
    (world.project / "a").write_text("changed\n")
    (world.project / "b").write_text("")
    (world.project / "näme\n with a break").write_text("")
    short = git(world.project, "log", "-1", "--format=%h").strip()
    assert world.told() == (
        f"## Git\nBranch: main\nLast commit: {short} first thing\nUncommitted: 1 modified, 2 untracked"
    )
    assert world.banner() == "Session context loaded: on main"


def test_14_a_detached_head_is_said_to_be_one(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "checkout", "-q", "--detach")
    assert "Branch: detached\n" in world.told()
    assert world.banner() == "Session context loaded: on detached"


def test_a_clean_tree_has_no_line_about_changes(world: NoteWorld) -> None:
    world.repository()
    assert "Uncommitted" not in world.told()


def test_a_repository_without_a_commit_has_a_branch(world: NoteWorld) -> None:
    git(world.project, "init", "-q", "-b", "trunk")
    assert world.told() == "## Git\nBranch: trunk"


@pytest.fixture
def no_system_git(monkeypatch: pytest.MonkeyPatch) -> None:
    """Only what is in PATH."""
    monkeypatch.setattr("hookline.core.isolation._SYSTEM", ())


@pytest.mark.usefixtures("no_system_git")
def test_without_git_there_is_no_section_about_it(world: NoteWorld) -> None:
    world.repository()
    world.environ["PATH"] = str(world.tmp)
    assert world.told() == "New project, no prior context."


@pytest.mark.usefixtures("no_system_git")
def test_the_branch_of_a_repository_with_tables_is_asked_for(world: NoteWorld) -> None:
    git(world.project, "init", "-q", "-b", "trunk")
    world.write(world.project / ".git/HEAD", "ref: refs/heads/.invalid\n")
    known = world.write(world.tmp / "bin/git", '#!/bin/sh\ncase "$*" in *symbolic-ref*) echo topic/x;; esac\n')
    known.chmod(0o755)
    world.environ["PATH"] = f"{known.parent}:{os.environ['PATH']}"
    assert world.told() == "## Git\nBranch: topic/x"
    assert world.banner() == "Session context loaded: on topic/x"


@pytest.mark.usefixtures("no_system_git")
@pytest.mark.parametrize("how", ["exec sleep 30", "sleep 30; true"])
def test_a_git_that_takes_too_long_is_not_waited_for(
    world: NoteWorld, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    monkeypatch.setattr("hookline.memory.inject.git_facts.TIMEOUT", 0.2)
    world.repository()
    slow = world.write(world.tmp / "bin/git", f"#!/bin/sh\n{how}\n")
    began = time.monotonic()
    slow.chmod(0o755)
    world.environ["PATH"] = f"{slow.parent}:{os.environ['PATH']}"
    assert world.told() == "## Git\nBranch: main\nUncommitted: unknown (git status is too slow here)"
    assert time.monotonic() - began < 20


# ── the last session ─────────────────────────────────────────────────────────────────────────────────


def test_the_last_session_is_told_with_date_count_and_first_prompt(world: NoteWorld) -> None:
    world.repository()
    world.stop(world.conversation(turns=3))
    assert '## Last session\nLast session: 2026-04-12 18:32 (6 messages)\nWorking on: "please mend the parser"' in (
        world.told()
    )
    assert world.banner() == "Session context loaded: on main | Last session: 2026-04-12 18:32"


def test_20_a_long_first_prompt_is_cut_to_eighty(world: NoteWorld) -> None:
    world.stop(world.conversation(first="x" * 120))
    assert f'Working on: "{"x" * 77}..."' in world.told()


def test_22_a_subdirectory_and_a_worktree_have_the_last_session_of_their_project(world: NoteWorld) -> None:
    world.repository()
    world.stop(world.conversation())
    below = world.project / "sub" / "deeper"
    below.mkdir(parents=True)
    git(world.project, "worktree", "add", "-q", "../elsewhere", "-b", "side")
    assert "## Last session" in world.told(cwd=below)
    assert "## Last session" in world.told(cwd=world.tmp / "elsewhere")


def test_another_project_of_the_same_name_is_another_project(world: NoteWorld) -> None:
    world.repository()
    world.stop(world.conversation())
    other = world.tmp / "other" / "proj"
    other.mkdir(parents=True)
    assert world.told(cwd=other) == "New project, no prior context."


def test_a_note_that_lazy_harness_wrote_is_found_by_the_projects_name(world: NoteWorld) -> None:
    note = "---\ntype: claude-session\nproject: proj\ndate: 2026-03-01 10:00\nmessages: 9\n---\n\n## User\n\nhello\n"
    world.write(world.knowledge / "sessions/2026-03/2026-03-01-aaaaaaaa.md", note)
    world.write(
        world.knowledge / "sessions/2026-04/2026-04-01-bbbbbbbb.md",
        note.replace("project: proj", "project: project-two").replace("-03-01", "-04-01"),
    )
    assert world.told() == '## Last session\nLast session: 2026-03-01 10:00 (9 messages)\nWorking on: "hello"'


def test_on_a_machine_that_dawdles_the_last_session_is_found_all_the_same(
    world: NoteWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "hookline.memory.inject.last_session.SEARCH_TIMEOUT", -1.0
    )  # it is over before the first is looked at
    world.write(world.knowledge / "sessions/2026-03/2026-03-01-aaaaaaaa.md", "---\nproject: proj\nmessages: 9\n---\n")
    assert "(9 messages)" in world.told()


def test_a_note_without_a_date_or_a_count_is_told_as_far_as_it_goes(world: NoteWorld) -> None:
    world.write(world.knowledge / "sessions/2026-03/2026-03-01-aaaaaaaa.md", "---\nproject: proj\n---\n")
    assert world.told() == "## Last session\nLast session: unknown (? messages)"


# ── memory ───────────────────────────────────────────────────────────────────────────────────────────


def own_memory(world: NoteWorld) -> Path:
    world.stop(world.conversation())
    return world.memory()


def test_19_a_line_that_is_no_entry_takes_a_place(world: NoteWorld) -> None:
    text = entries("one", "two", "three", "four", "five") + "{garbage\n"
    world.write(own_memory(world) / "decisions.jsonl", text)
    assert world.told().endswith("## Recent history\nRecent decisions:\n- four\n- five")


def test_half_a_character_in_memory_is_told_as_a_mark(world: NoteWorld) -> None:
    world.write(own_memory(world) / "decisions.jsonl", '{"summary": "half \\ud83d of it"}\n')
    assert world.told().endswith("- half ? of it")


def test_failures_are_told_with_what_prevents_them(world: NoteWorld) -> None:
    failures = (
        json.dumps({"summary": "it broke", "prevention": "test it"}) + "\n" + json.dumps({"summary": "so did this"})
    )
    world.write(own_memory(world) / "failures.jsonl", failures)
    assert world.told().endswith("## Recent history\nRecent failures:\n- it broke → test it\n- so did this")


def test_the_handoff_and_the_summary_are_told_together(world: NoteWorld) -> None:
    memory = own_memory(world)
    front = "---\nsession_id: abcdef12-0000-4000-8000-000000000000\nwritten_at: x\nsource_mtime: 99999999999\n---\n"
    world.write(memory / "handoff.md", f"{front}\n- finish the parser\n")
    world.write(memory / "pre-compact-summary.md", "<!-- generated now -->\n## Tasks in progress\n- parser\n")
    assert world.told().endswith(
        "## Handoff from last session\n- finish the parser\n\nPre-compact context:\n## Tasks in progress\n- parser"
    )
    assert world.banner().endswith("| has handoff notes")


def test_a_handoff_without_provenance_is_told_with_caution(world: NoteWorld) -> None:
    world.write(own_memory(world) / "handoff.md", "- finish it\n")
    assert "(legacy handoff — no provenance metadata, treat with caution)\n- finish it" in world.told()


def test_a_front_matter_that_somebody_indented_is_one(world: NoteWorld) -> None:
    front = "---\n  session_id: abcdef12-0000-4000-8000-000000000000\n  ---\n"
    world.write(own_memory(world) / "handoff.md", f"{front}- finish it\n--- \nand this\n")
    assert world.told().endswith("## Handoff from last session\n- finish it\n--- \nand this")


def test_pipes_in_the_place_of_files_make_nobody_wait(world: NoteWorld) -> None:
    memory = own_memory(world)
    for name in ("decisions.jsonl", "failures.jsonl", "handoff.md", "pre-compact-summary.md"):
        os.mkfifo(memory / name)
    os.mkfifo(world.notes()[0].with_name("2026-12-31-pipe.md"))
    os.mkfifo(world.project / ".git")
    assert world.told().startswith("## Last session\nLast session: 2026-04-12 18:32 (4 messages)")


def test_a_handoff_of_an_earlier_session_is_marked_as_stale(world: NoteWorld) -> None:
    front = "---\nsession_id: 99999999-older\nwritten_at: x\nsource_mtime: 1\n---\n"
    world.write(own_memory(world) / "handoff.md", f"{front}\n- finish it\n")
    told = world.told()
    assert "⚠️ Handoff may be stale." in told
    assert told.index("stale content below") < told.index("- finish it")


def test_a_resumed_session_is_warned_of_its_own_stale_handoff(world: NoteWorld) -> None:
    last = json.loads((own_memory(world) / "last-session").read_text())["session"]
    front = f"---\nsession_id: {last}\nwritten_at: x\nsource_mtime: 1\n---\n"
    world.write(own_memory(world) / "handoff.md", f"{front}\n- finish it\n")
    reply = context_inject(replace(world.event("SessionStart", source="resume"), session=last))
    assert reply is not None
    assert "⚠️ Handoff may be stale.\nIts session went on for" in reply.context[0].text


def test_memory_that_lazy_harness_left_beside_the_transcripts_is_read(world: NoteWorld) -> None:
    name = str(world.project).replace("/", "-")
    memory = world.home / ".claude/projects" / name / "memory"
    world.write(memory / "decisions.jsonl", entries("an old decision"))
    world.write(memory / "handoff.md", "- an old handoff\n")
    told = world.told()
    assert "- an old decision" in told
    assert "- an old handoff" in told


def test_an_old_handoff_is_told_until_a_session_here_has_ended(world: NoteWorld) -> None:
    name = str(world.project).replace("/", "-")
    old = world.write(world.home / ".claude/projects" / name / "memory/handoff.md", "- an old handoff\n")
    os.utime(old, (1_000_000, 1_000_000))
    assert "- an old handoff" in world.told()
    world.stop(world.conversation())
    assert "- an old handoff" not in world.told()


def test_the_agents_directory_may_be_elsewhere(world: NoteWorld) -> None:
    world.environ["CLAUDE_CONFIG_DIR"] = str(world.tmp / "claude-work")
    name = str(world.project).replace("/", "-")
    world.write(world.tmp / "claude-work/projects" / name / "memory/failures.jsonl", entries("a failure"))
    assert "- a failure" in world.told()


# ── the compass ──────────────────────────────────────────────────────────────────────────────────────


def test_the_compass_shows_twenty_lines_and_fifteen_of_the_profile(world: NoteWorld) -> None:
    lines = "".join(f"line {n}\n\n" for n in range(40))
    world.write(world.home / "north/LazyNorth.md", f"---\ntitle: x\n---\n# North\n\n{lines}")
    world.write(world.home / "north/work.md", "".join(f"work {n}\n" for n in range(40)))
    world.config(
        f'[lazynorth]\nenabled = true\npath = "~/north"\n[profiles.work]\nroots = ["{world.tmp}"]\nlazynorth_doc = "work.md"\n'
        f'[profiles.workshop]\nroots = ["{str(world.project)[:-1]}"]\nlazynorth_doc = "LazyNorth.md"\n'
    )
    section = world.told().removeprefix("## LazyNorth\n")
    universal, profile = section.split("\n\n")
    assert universal.splitlines() == [f"line {n}" for n in range(20)]
    assert profile.splitlines() == [f"work {n}" for n in range(15)]


def test_the_compass_is_off_unless_it_is_switched_on(world: NoteWorld) -> None:
    world.write(world.home / "north/LazyNorth.md", "aim\n")
    world.config('[lazynorth]\npath = "~/north"\n')
    assert "LazyNorth" not in world.told()


# ── too much ─────────────────────────────────────────────────────────────────────────────────────────

ALL = (
    Section(title="Git", text="g" * 100),
    Section(title="LazyNorth", text="n" * 100, drops=3),
    Section(title="Last session", text="s" * 100),
    Section(title="Handoff from last session", text="h" * 100, drops=4),
    Section(title="Relevant notes", text="r" * 100, drops=2),
    Section(title="Recent history", text="e" * 100, drops=1),
)


@pytest.mark.parametrize(
    ("most", "gone"),
    [
        (1000, []),
        (600, ["Recent history"]),
        (500, ["Recent history", "Relevant notes"]),
        (380, ["Recent history", "Relevant notes", "LazyNorth"]),
        (250, ["Recent history", "Relevant notes", "LazyNorth", "Handoff from last session"]),
    ],
)
def test_whole_sections_go_in_order_until_the_rest_fits(most: int, gone: list[str]) -> None:
    body = fit_sections(ALL, most)
    kept = [section for section in ALL if section.title not in gone]
    assert body.endswith("\n\n".join(map(str, kept)))
    note = f"[truncated: dropped {', '.join(gone)} to fit {most}-char budget]\n\n"
    assert body.startswith(note if gone else "## Git")


def test_16_git_and_the_last_session_stay_however_small_the_budget(world: NoteWorld) -> None:
    world.repository()
    world.write(own_memory(world) / "decisions.jsonl", entries("one"))
    world.config("[context_inject]\nmax_body_chars = 10\n")
    told = world.told()
    assert told.startswith("[truncated: dropped Recent history to fit 10-char budget]\n\n## Git\n")
    assert "## Last session" in told


# ── whether at all ───────────────────────────────────────────────────────────────────────────────────


def test_it_writes_nothing_but_its_line_in_the_log(world: NoteWorld) -> None:
    world.repository()
    world.told()
    files = [path for path in world.home.rglob("*") if path.is_file()]
    assert files == [world.state / "hooks.log"]
    assert " context-inject: fired cwd=" in world.log()


def test_switched_off_it_says_nothing(world: NoteWorld) -> None:
    world.repository()
    world.config("[context_inject]\nenabled = false\n")
    assert world.start() is None


def test_a_project_can_opt_out(world: NoteWorld) -> None:
    world.repository()
    world.write(world.project / ".hookline/hookline.toml", "[knowledge]\nenabled = false\n")
    approve_project(world.project, world.environ)
    assert world.start() is None
    world.stop(world.conversation())
    assert not world.knowledge.exists()


@pytest.mark.parametrize("where", ["config", "included"])
@pytest.mark.parametrize("kind", ["clean", "process"])
def test_git_starts_no_program_that_the_repository_names(world: NoteWorld, where: str, kind: str) -> None:
    repository = world.repository()
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "add", ".gitattributes")
    git(repository, "commit", "-q", "-m", "second thing")
    program = world.tmp / "evil"
    program.write_text(f"#!/bin/sh\ntouch '{world.tmp}/ran'\nexec cat\n")
    program.chmod(0o755)
    setting = f'[filter "evil"]\n\t{kind} = {program}\n'
    with (repository / ".git/config").open("a") as config:
        config.write(setting if where == "config" else "[include]\n\tpath = more\n")
    (repository / ".git/more").write_text(setting)
    (repository / "a").write_text("b\n")
    told = world.told()
    assert not (world.tmp / "ran").exists()
    assert "Branch: main" in told
    assert "second thing" in told


def test_inside_a_hooks_own_agent_nothing_is_told(world: NoteWorld) -> None:
    world.environ["HOOKLINE_NO_HOOKS"] = "1"
    assert world.start() is None


def test_secrets_in_memory_do_not_reach_the_model(world: NoteWorld) -> None:
    key = "sk-ant-api03-" + "k" * 60
    world.write(own_memory(world) / "decisions.jsonl", entries(f"use {key}"))
    assert key not in world.told()


def test_a_search_that_fails_costs_only_its_own_section(world: NoteWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_given: object) -> str:
        raise ValueError("no index")

    monkeypatch.setattr("hookline.memory.inject.relevant.relevant_notes", broken)
    world.repository()
    assert world.told().startswith("## Git")
    assert "error: relevant notes: ValueError: no index" in world.log()


def test_notes_that_fit_stand_before_the_history(world: NoteWorld, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.memory.inject.relevant.relevant_notes", lambda *_given: "- a note")
    world.write(own_memory(world) / "decisions.jsonl", entries("one"))
    assert "## Relevant notes\n- a note\n\n## Recent history" in world.told()
