"""Sessions become notes. Numbers in names are those of lazy-harness's cases."""

from __future__ import annotations

import json
import os
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from tests.unit.memory.note_world import INTERACTIVE, git, said

from hookline.gateway.bypass import PREFACE
from hookline.memory import transcript
from hookline.memory.context import hook_context
from hookline.memory.notes.session_export import export

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tests.unit.memory.note_world import NoteWorld

    from hookline.transcripts import TranscriptMessage

REAL = Path(__file__).parents[3] / "payloads" / "transcripts"
RESULT = {
    "type": "user", "sessionId": "abcdef12-0000-4000-8000-000000000000",
    "message": {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "output"}]},
}  # fmt: skip


def test_26_what_was_said_is_counted_and_what_tools_gave_back_is_not(world: NoteWorld) -> None:
    world.repository()
    place = {"cwd": str(world.project), "version": "2.1.0", "gitBranch": "main"}
    records = [
        INTERACTIVE, said("user", "mend it", **place), said("assistant", "I will"), RESULT, said("user", "go on"),
        said("assistant", "done\n\nwith it"),
    ]  # fmt: skip
    world.stop(world.transcript(*records))
    (note,) = world.notes()
    assert note.relative_to(world.knowledge).as_posix() == "sessions/2026-04/2026-04-12-abcdef12.md"
    repository = world.memory().name
    assert note.read_text() == (
        "---\n"
        "type: claude-session\n"
        "session_id: abcdef12-0000-4000-8000-000000000000\n"
        "date: 2026-04-12 18:32\n"
        f"cwd: {world.project}\n"
        "project: proj\n"
        "profile: other\n"
        "session_type: other\n"
        "branch: main\n"
        "claude_version: 2.1.0\n"
        "messages: 4\n"
        "agent: claude-code\n"
        f"repository: {repository}\n"
        "---\n\n"
        "# Session 2026-04-12 18:32 — proj\n\n"
        f"**CWD:** {world.project} | **Project:** proj | **Profile:** other\n\n"
        "---\n\n"
        "## User\n\nmend it\n\n"
        "## Claude\n\nI will\n\n"
        "## User\n\ngo on\n\n"
        "## Claude\n\ndone\n\nwith it\n"
    )


@pytest.mark.parametrize("written", [True, False])
def test_an_answer_that_the_agent_has_not_written_yet_is_in_the_note(world: NoteWorld, written: bool) -> None:
    records = [
        INTERACTIVE, said("user", "mend it"), said("assistant", "I will"), said("user", "go on"), said("assistant", "done"),
    ]  # fmt: skip
    path = world.transcript(*records[: 5 if written else 4])
    world.stop(path, assistant_message="done")
    (note,) = world.notes()
    assert note.read_text().endswith("## User\n\ngo on\n\n## Claude\n\ndone\n")
    world.transcript(*records)
    world.stop(path)
    assert "messages: 4\n" in note.read_text()


def test_the_texts_of_one_record_are_one_message(world: NoteWorld) -> None:
    """Records as lazy-harness reads them: nothing but a kind and a content, which may be several texts."""
    parts = [
        {"type": "text", "text": "one"},
        {"type": "tool_use", "name": "Edit", "input": {}},
        {"type": "text", "text": "two"},
    ]
    records: list[object] = [{"type": "permission-mode"}, {"type": "system", "timestamp": "2026-04-12T18:32:00+02:00"}]
    for _ in range(2):
        records += [{"type": role, "message": {"content": parts}} for role in ("user", "assistant")]
    world.stop(world.transcript(*records))
    (note,) = world.notes()
    text = note.read_text()
    assert "\nmessages: 4\n" in text
    assert text.endswith("\n## User\n\none\n\ntwo\n\n## Claude\n\none\n\ntwo\n" * 2)


def test_28_a_session_without_a_mark_of_a_person_is_not_exported(world: NoteWorld) -> None:
    records = [said("user", f"question {n}") for n in range(6)]
    world.stop(world.transcript(*records))
    assert world.notes() == []
    assert world.log().endswith("session-export: skipped: non-interactive\n")


def test_28_a_short_session_is_short_whoever_sat_there(world: NoteWorld) -> None:
    world.stop(world.transcript(said("user", "question")))
    assert world.log().endswith("session-export: skipped: short\n")


def test_fewer_messages_than_wanted_are_no_note(world: NoteWorld) -> None:
    world.config("[knowledge]\nmin_messages = 5\n")
    world.stop(world.conversation(turns=2))
    assert world.notes() == []
    world.stop(world.conversation(turns=3))
    assert len(world.notes()) == 1


def test_29_a_knowledge_directory_needs_no_marker(world: NoteWorld) -> None:
    world.config(f'[knowledge]\npath = "{world.tmp}/elsewhere"\n')
    world.stop(world.conversation())
    assert len(list((world.tmp / "elsewhere/sessions").glob("*/*.md"))) == 1


def test_the_same_session_is_written_again_only_when_it_has_grown(world: NoteWorld) -> None:
    world.stop(world.conversation(turns=2))
    (note,) = world.notes()
    os.utime(note, (1000, 1000))
    world.stop(world.conversation(turns=2))
    assert note.stat().st_mtime == 1000
    assert world.log().endswith("skipped: unchanged\n")
    world.stop(world.conversation(turns=3))
    assert "messages: 6\n" in note.read_text()
    assert world.notes() == [note]


def test_two_sessions_with_the_same_first_letters_are_two_notes(world: NoteWorld) -> None:
    for tail in ("first", "second"):
        records = [{**one, "sessionId": f"abcdef12-{tail}"} for one in
                   (INTERACTIVE, *(said("user", f"{tail} question {n}") for n in range(4)))]  # fmt: skip
        world.stop(world.transcript(*records, name=f"abcdef12-{tail}.jsonl"))
    names = [note.name for note in world.notes()]
    assert names == ["2026-04-12-abcdef12-second.md", "2026-04-12-abcdef12.md"]


def test_nothing_half_written_stays(world: NoteWorld) -> None:
    world.stop(world.conversation())
    left = list(world.knowledge.rglob(".*"))
    assert left == []
    (note,) = world.notes()
    assert note.stat().st_mode & 0o777 == 0o600
    folders = [path for path in (world.knowledge, *world.knowledge.rglob("*")) if path.is_dir()]
    assert {folder.stat().st_mode & 0o777 for folder in folders} == {0o700}


def test_what_a_killed_export_left_is_swept_away(world: NoteWorld) -> None:
    month = world.knowledge / "sessions/2026-04"
    old, fresh = (world.write(month / name, "half") for name in (".new-1-old", ".new-2-fresh"))
    os.utime(old, (1000, 1000))
    world.stop(world.conversation())
    assert (old.exists(), fresh.exists()) == (False, True)


def test_secrets_are_not_written_down(world: NoteWorld) -> None:
    world.environ["MY_API_KEY"] = "hunter2-hunter2-hunter2"
    world.config('[record]\nredact = ["internal-\\\\d+"]\n')
    records = [
        INTERACTIVE,
        said("user", "use sk-ant-api03-" + "k" * 60),
        said("assistant", "and hunter2-hunter2-hunter2"),
        said("user", "in internal-1234"),
        said("assistant", "harmless"),
    ]
    world.stop(world.transcript(*records))
    text = world.notes()[0].read_text()
    assert "[redacted:anthropic]" in text
    assert "hunter2" not in text
    assert "internal-1234" not in text
    assert "harmless" in text


def test_a_torn_last_line_and_junk_cost_nothing_else(world: NoteWorld) -> None:
    torn = json.dumps(said("assistant", "torn"))[:40]
    records = [INTERACTIVE, "junk", *(said("user", f"question {n}") for n in range(4)), '{"type": "unheard-of"}', torn]
    world.stop(world.transcript(*records))
    assert "messages: 4\n" in world.notes()[0].read_text()


def test_a_mark_or_a_hole_before_the_first_record_costs_nothing(world: NoteWorld) -> None:
    whole = world.conversation()
    text = whole.read_bytes()
    for before in (b"\xef\xbb\xbf", b"\0" * 5000):
        whole.write_bytes(before + text)
        world.stop(whole)
        (note,) = world.notes()
        note.unlink()


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="a file that nobody can read, whoever asks")
def test_a_transcript_that_nobody_can_read_is_said_to_be_one(world: NoteWorld) -> None:
    world.stop(Path("/proc/self/mem"))
    assert "error: /proc/self/mem could not be exported" in world.log()
    assert world.notes() == []


def test_a_transcript_that_goes_while_it_is_read_has_its_note(
    world: NoteWorld, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = world.conversation()
    really = transcript.messages

    def going(name: str, agent: str) -> Iterator[TranscriptMessage]:
        for message in really(name, agent):
            path.unlink(missing_ok=True)
            yield message

    monkeypatch.setattr("hookline.memory.notes.session_export.messages", going)
    world.stop(path)
    assert len(world.notes()) == 1
    assert "session-export: wrote " in world.log()
    assert (world.memory() / "last-session").exists()


def test_strange_names_are_quoted(world: NoteWorld) -> None:
    place = {"cwd": str(world.project), "gitBranch": 'feature: "x" #1'}
    records = [INTERACTIVE, *(said("user", f"question {n}", **place) for n in range(4))]
    world.stop(world.transcript(*records))
    assert 'branch: "feature: \\"x\\" #1"\n' in world.notes()[0].read_text()


def test_rules_decide_profile_and_kind(world: NoteWorld) -> None:
    world.config('[knowledge]\nclassify_rules = [{ pattern = "/proj/", profile = "work", session_type = "client" }]\n')
    world.stop(world.conversation())
    text = world.notes()[0].read_text()
    assert "profile: work\nsession_type: client\n" in text


def test_without_rules_the_profiles_roots_decide(world: NoteWorld) -> None:
    world.config(f'[profiles.work]\nroots = ["{world.tmp}"]\n')
    world.stop(world.conversation())
    assert "profile: work\nsession_type: work\n" in world.notes()[0].read_text()


def test_no_rules_at_all_leave_everything_other(world: NoteWorld) -> None:
    world.config(f'[knowledge]\nclassify_rules = []\n[profiles.work]\nroots = ["{world.tmp}"]\n')
    world.stop(world.conversation())
    assert "profile: other\nsession_type: other\n" in world.notes()[0].read_text()


@pytest.mark.parametrize("moment", ["", "nonsense", "9999-99-99T99:99:99Z", "../../x", 5, None])
def test_a_session_without_a_time_has_that_of_its_file(world: NoteWorld, moment: object) -> None:
    transcript = world.transcript(INTERACTIVE, *({**said("user", f"q {n}"), "timestamp": moment} for n in range(4)))
    os.utime(transcript, (1_700_000_000, 1_700_000_000))
    world.stop(transcript)
    assert [note.name[:9] for note in world.notes()] == ["2023-11-1"]


# ── other agents ─────────────────────────────────────────────────────────────────────────────────────


def test_a_session_of_another_agent_has_its_name_above_what_it_said(world: NoteWorld) -> None:
    meta = {"id": "01999999-aaaa", "cwd": str(world.project), "cli_version": "0.166.0", "originator": "codex_cli_rs",
            "timestamp": "2026-05-01T10:00:00Z", "source": "cli"}  # fmt: skip
    turns = [
        {"type": "response_item", "timestamp": "2026-05-01T10:00:01Z", "payload":
         {"type": "message", "role": role, "content": [{"type": f"{kind}_text", "text": f"{role} {n}"}]}}
        for n in range(2) for role, kind in (("user", "input"), ("assistant", "output"))
    ]  # fmt: skip
    records = [{"type": "session_meta", "timestamp": "2026-05-01T10:00:00Z", "payload": meta}, *turns]
    world.stop(world.transcript(*records, name="rollout-x.jsonl"), agent="codex")
    text = world.notes()[0].read_text()
    assert "## Codex\n\nassistant 1\n" in text
    assert "agent: codex\n" in text


@pytest.mark.parametrize("path", sorted(REAL.glob("*.jsonl")), ids=lambda path: path.stem)
def test_real_transcripts_become_notes_of_their_agents(world: NoteWorld, path: Path) -> None:
    world.config("[knowledge]\nmin_messages = 2\n")
    scene = hook_context(world.event("Stop", agent=path.stem), "test")
    assert scene is not None
    if path.stem == "pi":  # another agent is built upon it: only the folder tells their transcripts apart
        folder = world.tmp / ".pi/agent/sessions/--project--"
        folder.mkdir(parents=True)
        path = Path(shutil.copy(path, folder))
    done = export(scene, str(path), force=True)
    text = Path(done.path).read_text()
    assert f"agent: {path.stem}\n" in text
    assert f"messages: {done.messages}\n" in text
    assert text.count("\n## ") == done.messages
    assert any(answer in text for answer in ("First answer.", "All **fine**.", "All done."))


def test_an_agent_without_a_transcript_is_said_to_have_none(world: NoteWorld) -> None:
    world.stop(world.tmp / "not-there.jsonl", agent="opencode")
    assert world.log().endswith("session-export: skipped: no transcript\n")


def test_without_a_path_the_newest_transcript_of_the_directory_is_taken(world: NoteWorld) -> None:
    folder = world.home / ".claude/projects" / str(world.project).replace("/", "-")
    folder.mkdir(parents=True)
    text = world.conversation().read_text()
    (folder / "old.jsonl").write_text("")
    os.utime(folder / "old.jsonl", (1000, 1000))
    (folder / "abcdef12.jsonl").write_text(text)
    world.stop_without_path()
    assert len(world.notes()) == 1


def test_the_workers_own_session_is_neither_exported_nor_the_latest(world: NoteWorld) -> None:
    folder = world.home / ".claude/projects" / str(world.project).replace("/", "-")
    folder.mkdir(parents=True)
    (folder / "person.jsonl").write_text(world.conversation().read_text())
    os.utime(folder / "person.jsonl", (1000, 1000))
    ours = [INTERACTIVE, said("user", f"{PREFACE} …"), *(said("assistant", f"{n}") for n in range(5))]
    own = world.transcript(*ours)
    (folder / "own.jsonl").write_text(own.read_text())
    world.stop(own)
    assert world.notes() == []
    world.stop_without_path()
    assert "please mend the parser" in world.notes()[0].read_text()


# ── qmd ──────────────────────────────────────────────────────────────────────────────────────────────


def with_qmd(world: NoteWorld, body: str) -> Path:
    program = world.write(world.tmp / "bin/qmd", f"#!/bin/sh\n{body}\n")
    program.chmod(0o755)
    world.environ["PATH"] = f"{program.parent}:{os.environ['PATH']}"
    return program


def test_qmd_is_told_after_a_write_and_only_then(world: NoteWorld) -> None:
    seen = world.tmp / "seen"
    with_qmd(world, f'echo "$@" >> {seen}')
    world.stop(world.conversation())
    deadline = time.monotonic() + 60
    while not seen.exists() and time.monotonic() < deadline:
        time.sleep(0.01)
    world.stop(world.conversation())
    assert seen.read_text() == "update\n"


def test_a_qmd_that_hangs_is_not_waited_for(world: NoteWorld) -> None:
    pid = world.tmp / "pid"
    with_qmd(world, f"echo $$ > {pid}.new; mv {pid}.new {pid}; exec sleep 300")
    began = time.monotonic()
    world.stop(world.conversation())
    assert time.monotonic() - began < 45
    while not pid.exists():
        time.sleep(0.01)
    os.kill(int(pid.read_text()), 9)


def test_a_qmd_that_lies_in_the_project_is_nobodys(world: NoteWorld) -> None:
    program = world.write(world.project / "qmd", f"#!/bin/sh\ntouch {world.tmp}/seen\n")
    program.chmod(0o755)
    world.environ["PATH"] = f"{world.project}:{os.environ['PATH']}"
    world.stop(world.conversation())
    assert not (world.tmp / "seen").exists()


# ── what goes wrong ──────────────────────────────────────────────────────────────────────────────────


def test_a_directory_that_cannot_be_written_is_a_line_in_the_log(world: NoteWorld) -> None:
    world.write(world.tmp / "file", "")
    world.config(f'[knowledge]\npath = "{world.tmp}/file/below"\n')
    world.stop(world.conversation())
    assert "session-export: error: " in world.log()
    assert "name another directory: " in world.log()  # the key that names it, not a variable that names our state
    assert "XDG_" not in world.log()


def test_an_opened_directory_of_the_persons_stays_as_open_as_it_was(world: NoteWorld) -> None:
    own = world.tmp / "notes"
    own.mkdir(mode=0o755)
    world.config(f'[knowledge]\npath = "{own}"\n')
    world.stop(world.conversation())
    assert own.stat().st_mode & 0o777 == 0o755


def test_a_worktrees_session_is_its_projects(world: NoteWorld) -> None:
    world.repository()
    git(world.project, "worktree", "add", "-q", "../side", "-b", "side")
    records = [INTERACTIVE, *(said("user", f"q {n}", cwd=str(world.tmp / "side")) for n in range(4))]
    world.stop(world.transcript(*records))
    text = world.notes()[0].read_text()
    assert "project: proj\n" in text
    assert "branch: side\n" in text
