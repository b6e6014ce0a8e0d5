"""``hookline knowledge`` and its neighbours, as a person and a program use them."""

from __future__ import annotations

import json
import os
import pty
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.cli.conftest import Project
from tests.unit.transcripts.test_reading import KEPT, keep

from hookline.llm.scripted import ModelServer
from hookline.memory.layout import encode_cwd
from hookline.memory.queue.queue import Queue
from hookline.memory.queue.task import DistillTask

SESSION = "abcdef12-0000-4000-8000-000000000000"
SAID = {
    "decisions": [{"summary": "The broker is kept"}],
    "failures": [{"summary": "The broker drops messages", "prevention": "acknowledge first"}],
    "learnings": [{"title": "Brokers lie", "learning": "Always count."}],
    "handoff": ["count the messages"],
}


def transcript(project: Project, session: str = SESSION, *, turns: int = 3, cwd: str = "") -> Path:
    head = {
        "sessionId": session,
        "cwd": cwd or str(project.path),
        "version": "2.1",
        "timestamp": "2026-04-12T18:32:00Z",
    }
    rows: list[dict[str, Any]] = [{"type": "permission-mode", "permissionMode": "default", **head}]
    for number in range(turns):
        rows.append({"type": "user", **head, "message": {"role": "user", "content": f"mend the broker {number} " * 20}})
        rows.append({"type": "assistant", **head, "message": {"content": [{"type": "text", "text": "It is mended."}]}})
    name, _ = encode_cwd(str(project.path))
    file = project.home / ".claude/projects" / name / f"{session}.jsonl"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return file


def configure(project: Project, text: str) -> None:
    file = project.home / ".config/hookline/hookline.toml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)


def distilled(project: Project) -> None:
    """A session that was exported, queued and distilled."""
    transcript(project)
    assert project.run("knowledge", "export").code == 0
    with ModelServer([{"text": json.dumps(SAID)}]) as server:
        url = f'backend = "openai-compatible"\nbackend_options = {{ base_url = "{server.url}" }}\n'
        configure(project, f"[compound_loop]\nenabled = true\n{url}")
        queued = project.run("knowledge", "handoff-now", "--json")
        assert queued.code == 0, queued.err
        project.run("knowledge", "worker")
        for _ in range(200):  # the worker in the background may have been quicker
            if project.run("status", "queue", "--json").json["done"]:
                break


def test_a_session_is_exported_found_shown_and_forgotten(project: Project) -> None:
    distilled(project)
    hits = project.run("knowledge", "search", "broker", "--json").json["hits"]
    assert {hit["kind"] for hit in hits} == {"session", "decision", "failure", "learning"}
    shown = project.run("knowledge", "show", SESSION[:8])
    assert shown.code == 0
    assert "The broker drops messages" in shown.out
    assert "count the messages" in project.run("knowledge", "show").out
    gone = project.run("knowledge", "forget", SESSION[:8], "--yes", "--json")
    assert gone.json["session"] == SESSION
    assert gone.json["removed"]["decisions and failures"] == 2
    assert project.run("knowledge", "search", "broker").code == 1
    assert project.run("knowledge", "forget", SESSION, "--yes").code == 1


def test_the_newest_session_here_is_exported_without_a_path(project: Project) -> None:
    transcript(project)
    first, again = (project.run("knowledge", "export", "--json").json["exported"][0] for _ in range(2))
    assert (first["outcome"], again["outcome"]) == ("wrote", "unchanged")
    assert first["messages"] == 6


def test_a_directory_of_transcripts_is_exported_as_a_whole(project: Project) -> None:
    for number in range(3):
        transcript(project, f"{number}0000000-0000-4000-8000-000000000000")
    project.write("more/broken.jsonl", "{not json\n")
    done = project.run("knowledge", "export", str(project.home / ".claude"), str(project.path / "more"), "--json").json
    assert sorted(one["outcome"] for one in done["exported"]) == ["short", "wrote", "wrote", "wrote"]


def test_nothing_to_export_is_exit_1(project: Project) -> None:
    done = project.run("knowledge", "export")
    assert (done.code, done.out) == (1, "")
    assert "no transcript" in done.err
    nowhere = project.run("knowledge", "export", "/nowhere.jsonl")
    assert (nowhere.code, nowhere.err) == (1, "hookline: /nowhere.jsonl: no such transcript\n")


@pytest.mark.parametrize("command", ["handoff-now", "worker"])
def test_without_a_model_it_is_exit_1_and_says_what_to_set(project: Project, command: str) -> None:
    transcript(project)
    done = project.run("knowledge", command)
    assert done.code == 1
    assert "[compound_loop] enabled = true" in done.err


@pytest.mark.parametrize("agent", ["codex", "qwen-code", "copilot-cli", "gemini-cli", "letta-code"])
def test_a_session_of_any_agent_is_queued_by_its_transcript(project: Project, agent: str) -> None:
    configure(project, '[compound_loop]\nenabled = true\nbackend = "nobody"\n')
    file = Path(__file__).parents[1] / f"payloads/transcripts/{agent}.jsonl"
    done = project.run("knowledge", "handoff-now", str(file), "--json")
    assert done.code == 0, done.err
    assert done.json["transcript"] == str(file)
    missing = project.run("knowledge", "handoff-now", "nothing.jsonl")
    assert (missing.code, missing.err) == (1, "hookline: not queued: no transcript\n")


@pytest.mark.parametrize("agent", KEPT)
def test_the_newest_session_here_is_taken_whichever_agent_had_it(project: Project, agent: str) -> None:
    configure(project, '[knowledge]\nmin_messages = 2\n[compound_loop]\nenabled = true\nbackend = "nobody"\n')
    old = transcript(project)
    os.utime(old, (1_000_000_000, 1_000_000_000))
    file = keep(agent, project.home, project.path, at=1_800_000_000.0)
    if agent in {"claude-code", "codex", "copilot-cli"}:  # whose sample says that nobody sat there
        for was, now in (('"sdk-cli"', '"cli"'), ('"exec"', '"cli"'), ("non-interactive mode", "a terminal")):
            Path(file).write_text(Path(file).read_text().replace(was, now))
        os.utime(file, (1_800_000_000, 1_800_000_000))
    queued = project.run("knowledge", "handoff-now", "--json").json
    assert (queued["transcript"], queued["agent"]) == (file, agent)
    said = project.run("knowledge", "handoff-now")
    assert said.err == f"hookline: newest session here: {file} ({agent})\n"
    (exported,) = project.run("knowledge", "export", "--json").json["exported"]
    assert (exported["transcript"], exported["outcome"]) == (file, "wrote")


def test_a_session_without_a_person_does_not_hide_the_one_before_it(project: Project) -> None:
    mine = transcript(project)
    os.utime(mine, (1_000_000_000, 1_000_000_000))
    alone = keep("codex", project.home, project.path, at=1_800_000_000.0)
    configure(project, '[compound_loop]\nenabled = true\nbackend = "nobody"\n')
    assert project.run("knowledge", "handoff-now", "--json").json["transcript"] == str(mine)
    mine.unlink()
    assert project.run("knowledge", "handoff-now", "--json").json["transcript"] == alone


def test_a_worker_that_cannot_ask_anybody_is_exit_1(project: Project) -> None:
    transcript(project)
    configure(project, '[compound_loop]\nenabled = true\nbackend = "nobody"\n')
    assert project.run("knowledge", "handoff-now").code == 0
    done = project.run("knowledge", "worker", "--json")
    assert done.code in {0, 1}, "the worker in the background may be at it"
    assert project.run("status", "queue", "--json").json["pending"] == 1


def test_a_project_that_opted_out_is_out_of_the_commands_too(project: Project) -> None:
    file = transcript(project)
    project.write(".hookline/hookline.toml", "[knowledge]\nenabled = false\n")
    assert project.run("trust", "--yes").code == 0
    for words in (["export"], ["handoff-now"], ["search", "x"], ["show"]):
        done = project.run("knowledge", *words)
        assert done.code == 1
        assert "switched off" in done.err
    elsewhere = project.home / "elsewhere"
    elsewhere.mkdir()
    done = project.run("knowledge", "export", str(file), "--json", cwd=elsewhere)
    assert done.json["exported"][0]["outcome"] == "opted-out"
    assert project.run("knowledge", "status", "--json").json["enabled"] is False


def test_the_status_counts_what_there_is(project: Project) -> None:
    distilled(project)
    told = project.run("knowledge", "status", "--json").json
    assert told["notes"] == {"session": 1, "decision": 1, "failure": 1, "open": 1, "learning": 1}
    assert told["queue"]["done"] == 1
    assert told["project"]["name"] == "a project"
    assert "1 session\n" in project.run("knowledge", "status").out


def test_nobody_to_ask_means_that_yes_must_be_said(project: Project) -> None:
    transcript(project)
    project.run("knowledge", "export")
    done = project.run("knowledge", "forget", SESSION)
    assert done.code == 64
    assert "--yes" in done.err


@pytest.mark.parametrize(("answer", "left"), [("n\n", 1), ("\n", 1), ("y\n", 0)])
def test_on_a_terminal_one_is_asked(project: Project, answer: str, left: int) -> None:
    transcript(project)
    project.run("knowledge", "export")
    ours, theirs = pty.openpty()
    os.write(ours, answer.encode())
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "knowledge", "forget", SESSION],
        stdin=theirs, capture_output=True, text=True, timeout=200, check=False, cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home)},
    )  # fmt: skip
    os.close(ours)
    os.close(theirs)
    assert f"Remove everything that session {SESSION} left?" in done.stderr
    assert done.returncode == left
    assert len(list((project.home / ".local/share/hookline/knowledge/sessions").rglob("*.md"))) == left


def test_two_sessions_that_begin_alike_are_told_apart(project: Project) -> None:
    for end in "12":
        transcript(project, f"abcdef12-0000-4000-8000-00000000000{end}")
    project.run("knowledge", "export", str(project.home / ".claude"))
    done = project.run("knowledge", "forget", "abcdef12", "--yes")
    assert done.code == 64
    assert "2 sessions begin with" in done.err


def test_long_work_is_counted_on_a_terminal(project: Project) -> None:
    for number in range(3):
        transcript(project, f"{number}0000000-0000-4000-8000-000000000000")
    ours, theirs = pty.openpty()
    done = subprocess.run(
        [sys.executable, "-m", "hookline", "knowledge", "export", str(project.home / ".claude")],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=theirs, timeout=200, check=False, cwd=project.path,
        env={"PATH": os.environ["PATH"], "HOME": str(project.home)},
    )  # fmt: skip
    os.close(theirs)
    shown = os.read(ours, 4096).decode()
    os.close(ours)
    assert done.returncode == 0
    assert "exported 1 of 3" in shown


# ── hook NAME, hooks run, hooks list, status ─────────────────────────────────────────────────────────


def test_a_built_in_says_what_the_document_says(project: Project) -> None:
    file = transcript(project)
    payload = json.dumps({"hook_event_name": "PreCompact", "transcriptPath": str(file), "cwd": str(project.path)})
    done = project.run("hook", "pre-compact", stdin=payload)
    answer = done.json["hookSpecificOutput"]
    assert answer["hookEventName"] == "PreCompact"
    assert answer["additionalContext"].startswith("## Tasks in progress\n- mend the broker")
    start = project.run("hook", "context-inject", stdin="").json
    assert start["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert start["systemMessage"].startswith("Session context loaded")


@pytest.mark.parametrize(
    "stdin", ["", "no json", "[1]", '{"hook_event_name": 7}', '{"cwd": "nowhere", "session_id": []}']
)
def test_a_built_in_ends_with_0_whatever_it_is_given(project: Project, stdin: str) -> None:
    for name in ("context-inject", "pre-compact", "session-export", "compound-loop", "session-end", "nobody"):
        assert project.run("hook", name, stdin=stdin).code == 0


def test_who_names_neither_agent_nor_hook_is_told(project: Project) -> None:
    done = project.run("hook")
    assert done.code == 64
    assert "--agent" in done.err


@pytest.mark.parametrize("name", ["context-inject", "pre-compact", "session-export", "compound-loop", "session-end"])
def test_every_built_in_can_be_tried(project: Project, name: str) -> None:
    done = project.run("hooks", "run", name)
    assert done.code == 0, done.err
    if done.out:
        assert done.json["hookSpecificOutput"]


def test_a_built_in_is_tried_on_a_payload_of_ones_own(project: Project) -> None:
    file = transcript(project)
    payload = project.write("p.json", json.dumps({"hook_event_name": "PreCompact", "transcript_path": str(file)}))
    done = project.run("hooks", "run", "pre-compact", "--event", "pre_compact", "--payload", str(payload))
    assert "mend the broker" in done.json["hookSpecificOutput"]["additionalContext"]


def test_names_that_lead_nowhere_are_listed(project: Project) -> None:
    configure(project, '[hooks.session_start]\nscripts = ["context-inject", "its name"]\n')
    done = project.run("hooks", "list")
    assert "its name" in done.out
    assert "not found" in done.out
    (lost,) = project.run("hooks", "list", "--json").json["unresolved"]
    assert (lost["hook"], lost["event"], lost["line"]) == ("its name", "session_start", 2)


def test_the_status_of_hooks_tells_when_each_ran_last(project: Project) -> None:
    assert "no memory hook" in project.run("status", "hooks").out
    project.run("hook", "context-inject")
    (one,) = project.run("status", "hooks", "--json").json["hooks"]
    assert (one["hook"], one["state"], one["cwd"]) == ("context-inject", "ok", str(project.path))
    log = project.home / ".local/state/hookline/hooks.log"
    log.write_text(f"2020-01-01T00:00:00+00:00 session-export: fired cwd=/x\nnot a line\n{log.read_text()}")
    states = {one["hook"]: one["state"] for one in project.run("status", "hooks", "--json").json["hooks"]}
    assert states == {"context-inject": "ok", "session-export": "stale"}
    assert "hooks.log" in project.run("status", "hooks").out


def test_the_status_of_the_queue_tells_what_waits_and_why(project: Project) -> None:
    transcript(project)
    configure(project, '[compound_loop]\nenabled = true\nbackend = "nobody"\n')
    project.run("knowledge", "handoff-now")
    told = project.run("status", "queue", "--json").json
    assert told["pending"] + told["claimed"] == 1
    assert "pending" in project.run("status", "queue").out


# ── what cannot be used ──────────────────────────────────────────────────────────────────────────────

EVERY = (
    ("status",), ("status", "--json"), ("search", "broker"), ("show",), ("show", SESSION), ("export",), ("worker",),
    ("handoff-now",), ("forget", SESSION, "--yes"),
)  # fmt: skip


@pytest.mark.parametrize("command", EVERY, ids=" ".join)
def test_a_knowledge_directory_that_is_none_is_told_with_its_key_and_file(
    project: Project, command: tuple[str, ...]
) -> None:
    transcript(project)
    (project.home / "notes").write_text("")
    configure(project, '[knowledge]\npath = "~/notes"\n[compound_loop]\nenabled = true\n')
    done = project.run("knowledge", *command)
    assert done.code == 74
    assert done.err == (
        f"hookline: {project.home}/notes cannot be used: it is a file, not a directory; move it away, or name another"
        f" directory: [knowledge] path in {project.home}/.config/hookline/hookline.toml\n"
    )


def test_work_that_cannot_be_kept_waits_and_says_why(project: Project) -> None:
    transcript(project)
    (project.home / "notes").mkdir()
    (project.home / "notes/memory").write_text("")
    with ModelServer([{"text": json.dumps(SAID)}]) as server:
        url = f'backend = "openai-compatible"\nbackend_options = {{ base_url = "{server.url}" }}\n'
        configure(project, f'[knowledge]\npath = "~/notes"\n[compound_loop]\nenabled = true\n{url}')
        put(project)
        done = project.run("knowledge", "worker", "--json")
        assert (done.code, json.loads(done.out)["later"]) == (74, 1)
        assert "[knowledge] path in" in done.err
        for view in (("knowledge", "status"), ("status", "queue")):
            assert "notes/memory cannot be used" in project.run(*view).out
        (project.home / "notes/memory").unlink()
        told = project.run("knowledge", "worker")
        assert told.out == "nothing was due; 1 waiting; to run them now: hookline knowledge worker --now\n"
        assert project.run("knowledge", "worker", "--now").out == "1 wrote\n"
    assert len(server.requests) == 1


def test_a_key_that_is_wrong_keeps_the_task_waiting_until_it_is_mended(project: Project) -> None:
    transcript(project)
    put(project)
    answers: list[Any] = [{"error": {"status": 401, "message": "who?"}}, {"text": json.dumps(SAID)}]
    with ModelServer(answers) as server:
        url = f'backend = "openai-compatible"\nbackend_options = {{ base_url = "{server.url}" }}\n'
        configure(project, f"[compound_loop]\nenabled = true\n{url}")
        done = project.run("knowledge", "worker")
        assert (done.code, done.out) == (1, "1 later\n")
        assert "stopped: " in done.err
        assert "its key is missing or wrong" in done.err
        assert "the queue waits: " in project.run("knowledge", "status").out
        assert "its key is missing or wrong" in project.run("status", "queue").out
        assert project.run("knowledge", "worker").out == "1 wrote\n"


def put(project: Project) -> None:
    """Queued as a hook does it, without a worker in the background."""
    file = next((project.home / ".claude/projects").rglob("*.jsonl"))
    queue = Queue(str(project.home / ".local/state/hookline/queue"))
    queue.put(DistillTask(cwd=str(project.path), session_jsonl=str(file), session_id=SESSION, agent="claude-code"))


def test_forgetting_takes_it_out_of_qmd_and_tells_where_it_could_not(project: Project) -> None:
    transcript(project)
    assert project.run("knowledge", "export").code == 0
    seen = project.home / "seen"
    program = project.home / "bin/qmd"
    program.parent.mkdir()
    program.write_text(f'#!/bin/sh\necho "$@" >> {seen}\n[ "$1" = update ]\n')
    program.chmod(0o755)
    done = project.run("knowledge", "forget", SESSION, "--yes", PATH=f"{program.parent}:{os.environ['PATH']}")
    assert done.code == 0
    assert seen.read_text() == "update\ncleanup\n"
    assert "qmd cleanup exited with 1" in done.err
