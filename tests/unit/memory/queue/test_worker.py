"""What the worker makes of sessions and of a model's answers."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import subprocess
import time
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import ANSWER, World, set_time

from hookline.gateway import bypass
from hookline.llm.spending import usage_today
from hookline.memory.distill.model_errors import ModelFailedError, ModelSetupError
from hookline.memory.queue import task, worker
from hookline.memory.queue.task import DistillTask


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_session_leaves_decisions_failures_learnings_and_a_handoff(world: World) -> None:
    world.transcript("s1")
    world.stop("s1")
    report, asked = world.work(ANSWER)
    assert report.counts == {"wrote": 1}
    assert len(asked) == 1
    assert world.summaries("decisions.jsonl") == ["Use SQLite for the cache"]
    assert world.lines("failures.jsonl")[0]["prevention"] == "take the lock first"
    assert [file.name.partition("-locks")[2] for file in world.learnings()] == ["-come-first.md"]
    assert "- write the docs\n" in world.handoff()
    assert len(world.done()) == 1
    assert "wrote: 1 decisions; 1 failures; 1 learnings; 1 open items" in world.log()


def test_the_model_is_told_what_is_known_and_how_the_session_ended(world: World) -> None:
    for session in ("s1", "s2"):
        world.transcript(session)
        world.stop(session)
    _report, asked = world.work(ANSWER)
    assert "Known entries" not in asked[0]
    lines = [line for line in asked[1].splitlines() if line.startswith("[")]
    assert [line.partition(",")[0] + line.partition(":")[2] for line in lines] == [
        "[1] open item write the docs",
        "[2] decision Use SQLite for the cache",
        "[3] failure The migration ran twice → take the lock first",
        "[4] learning Locks come first",
    ]
    assert "mend the migration of s2" in asked[1]
    assert "/src/migrate.py" in asked[1]
    assert world.summaries("decisions.jsonl") == ["Use SQLite for the cache"]


def test_first_come_first_served(world: World) -> None:
    for number in range(5):
        world.transcript(f"{number}-session")
        world.put(f"{number}-session")
    _report, asked = world.work({})
    assert [text.partition("Session: ")[2][0] for text in asked] == list("01234")


@pytest.mark.parametrize(("turns", "prompt"), [(3, "hi"), (1, "A long enough prompt. " * 20)])
def test_a_trivial_session_asks_no_model_and_leaves_a_slim_handoff(world: World, turns: int, prompt: str) -> None:
    world.transcript("s1", turns=turns, prompt=prompt)
    world.stop("s1")
    report, asked = world.work(ANSWER)
    assert (report.counts, asked) == ({"skipped": 1}, [])
    text = world.handoff()
    assert "# Handoff (slim)" in text
    assert f"> {prompt.strip()}" in text
    assert "- Branch: main\n" in text
    assert "- /src/migrate.py\n" in text


def test_a_trivial_session_never_overwrites_a_rich_handoff(world: World) -> None:
    world.transcript("s1")
    world.stop("s1")
    world.work(ANSWER)
    world.transcript("s2", prompt="hi")
    world.stop("s2")
    world.work(ANSWER)
    assert "- write the docs\n" in world.handoff()


def test_a_slim_handoff_can_be_switched_off(world: World) -> None:
    world.configure("[compound_loop]\nenabled = true\nslim_handoff_enabled = false\n")
    world.transcript("s1", prompt="hi")
    world.stop("s1")
    world.work(ANSWER)
    assert world.handoff() == ""


def test_an_insight_makes_a_short_session_worth_it_unless_the_person_wrote_it(world: World) -> None:
    block = f"★ Insight {'─' * 30}\nRename before you write.\n{'─' * 40}"
    world.transcript("mine", prompt=block, turns=1)
    world.transcript("agents", prompt="short", answer=block, turns=1)
    for session in ("mine", "agents"):
        world.stop(session)
    _report, asked = world.work({})
    assert [("Session: agents" in text, "Rename before you write." in text) for text in asked] == [(True, True)]
    (file,) = (world.data / "knowledge/insights").rglob("*.md")
    assert "Rename before you write." in file.read_text()


@pytest.mark.parametrize("reason", ["gone", "not interactive", "our own"])
def test_sessions_of_nobody_are_passed_over(world: World, reason: str) -> None:
    file = world.transcript("s1")
    if reason == "gone":
        file.unlink()
        world.put("s1")
    elif reason == "not interactive":
        file.write_text(file.read_text().partition("\n")[2])
        world.put("s1")
    else:
        world.transcript("s1", prompt=f"{bypass.PREFACE} {'x' * 500}")
        world.put("s1")
    report, asked = world.work(ANSWER)
    assert (report.counts, asked) == ({"skipped": 1}, [])
    assert reason in world.log()


def test_a_project_can_opt_out_after_it_was_queued(world: World) -> None:
    world.transcript("s1")
    world.stop("s1")
    world.opt_out()
    report, asked = world.work(ANSWER)
    assert (report.counts, asked) == ({"skipped": 1}, [])


def test_an_empty_answer_leaves_what_is_open(world: World) -> None:
    world.transcript("s1")
    world.stop("s1")
    world.work(ANSWER)
    world.transcript("s1", turns=4)
    world.put("s1")
    report, _asked = world.work("{}")
    assert report.counts == {"nothing": 1}
    assert "- write the docs\n" in world.handoff()
    assert "nothing to persist" in world.log()


def test_a_conversation_that_was_distilled_is_not_asked_about_again(world: World) -> None:
    file = world.transcript("s1")
    world.stop("s1")
    assert len(world.work(ANSWER)[1]) == 1
    with file.open("a") as ending:  # what an agent notes at the end is nothing that anybody said
        ending.write('{"type": "summary", "summary": "a migration", "leafUuid": "x"}\n')
    world.stop("s1", force=True)
    report, asked = world.work(ANSWER)
    assert (report.counts, asked) == ({"skipped": 1}, [])
    assert "nobody said anything since it was distilled" in world.log()
    world.transcript("s1", turns=4)
    world.stop("s1", force=True)
    assert len(world.work({})[1]) == 1


def test_what_distilling_costs_is_counted_and_capped(world: World) -> None:
    usage = {"input_tokens": 800, "cache_read_input_tokens": 100, "output_tokens": 50}
    printed = json.dumps({"type": "result", "result": '{"handoff": ["x"]}', "usage": usage, "total_cost_usd": 0.01})
    world.claude(f"sys.stdin.read(); print({printed!r})")
    world.configure("[compound_loop]\nenabled = true\n[limits]\nmodel_usd_per_day = 0.01\n")
    for session in ("s1", "s2"):
        world.transcript(session)
        world.put(session)
    report = worker.run(world.environ, cwd=str(world.bin))
    assert report.counts == {"wrote": 1, "later": 1}
    assert "limits.model_usd_per_day = 0.01 is reached" in world.log()
    spent = usage_today(str(world.state)).by["distiller"]
    assert (spent.requests, spent.input_tokens, spent.output_tokens, spent.cost_usd) == (1, 900, 50, 0.01)


def test_a_vault_that_is_a_repository_is_committed(world: World) -> None:
    world.configure("[compound_loop]\nenabled = true\n[knowledge]\ngit = true\n")
    vault = world.data / "knowledge"
    vault.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(vault)], check=True)
    world.transcript("s1")
    world.stop("s1")
    assert world.work(ANSWER)[0].counts == {"wrote": 1}
    assert "vault: committed" in world.log()
    files = subprocess.run(["git", "-C", str(vault), "ls-files"], check=True, capture_output=True, text=True).stdout
    assert sorted({name.split("/")[-2] for name in files.splitlines() if name.endswith(".md")})[-2:] == [
        "decisions",
        "failures",
    ]
    subprocess.run(["git", "-C", str(vault), "remote", "add", "origin", "/nowhere"], check=True)
    world.transcript("s2")
    world.stop("s2")
    assert world.work(ANSWER)[0].counts == {"nothing": 1}
    assert "error: the vault was not synchronised: git fetch" in world.log()


def test_a_session_that_goes_on_is_read_less_and_less_often(world: World) -> None:
    world.transcript("s1")
    pauses: list[float] = []
    for turns in range(4, 7):
        name = world.stop("s1", force=True).name
        world.work({})
        made = (world.state / "queue/done" / name).stat().st_mtime
        file = world.transcript("s1", turns=turns)
        for pause in (121.0, 481.0, 1921.0):
            set_time(file, made + pause)
            if world.stop("s1").name:
                pauses.append(pause)
                break
        (waiting,) = world.queue().pending()
        (world.state / "queue" / waiting.name).unlink()
    assert pauses == [121.0, 481.0, 1921.0]


def test_the_handoff_goes_when_the_last_item_is_closed(world: World) -> None:
    world.transcript("s1")
    world.stop("s1")
    world.work(ANSWER)
    world.transcript("s2", prompt="Please write the docs of the migration. " * 6)
    world.put("s2")
    report, _asked = world.work({"closes": [{"number": 1, "evidence": "write the docs of the migration"}]})
    assert report.counts == {"wrote": 1}
    assert world.handoff() == ""


def test_prose_is_no_answer_and_is_asked_for_once_more(world: World) -> None:
    world.transcript("s1")
    world.stop("s1")
    report, asked = world.work("I would rather talk about the weather.")
    assert (report.counts, len(asked)) == ({"failed": 1}, 2)
    assert "mend the migration" not in asked[1]
    assert len(world.done()) == 1
    assert "rather talk about the weather" in world.log()
    (letter,) = task.dead_letters(str(world.state / "queue/dead"))
    assert "unreadable answer" in letter.task.reason
    assert letter.answer == "I would rather talk about the weather."


def test_a_model_that_fails_is_asked_again_later_and_holds_up_nobody(world: World) -> None:
    for session in ("s1", "s2"):
        world.transcript(session)
        world.put(session)
    report, _asked = world.work(ModelFailedError("overloaded"), ANSWER)
    assert report.counts == {"later": 1, "wrote": 1}
    (waiting,) = world.queue().pending()
    assert (waiting.task.tries, waiting.task.reason) == (1, "overloaded")
    assert waiting.task.due > waiting.since + 20


def test_what_fails_for_good_is_put_aside_with_the_reason(world: World) -> None:
    world.configure("[compound_loop]\nenabled = true\nattempts = 3\n")
    world.transcript("s1")
    world.put("s1")

    def fail(_text: str) -> str:
        raise ModelFailedError("overloaded")

    for later in (0, 5000, 10_000):
        now = time.time() + later
        worker.run(world.environ, cwd=str(world.bin), model=fail, clock=lambda now=now: now)  # type: ignore[misc]  # a default
    assert world.queue().pending() == []
    (letter,) = task.dead_letters(str(world.state / "queue/dead"))
    assert letter.task.reason == "overloaded (tried 3 times)"
    assert len(world.done()) == 1


def test_without_a_way_to_ask_the_queue_waits(world: World) -> None:
    world.transcript("s1")
    world.put("s1")
    report, _asked = world.work(ModelSetupError("claude is not on PATH"))
    assert report.held == "claude is not on PATH"
    (waiting,) = world.queue().pending()
    assert waiting.task.tries == 0


def test_a_bug_in_one_task_holds_up_nobody(world: World) -> None:
    for session in ("s1", "s2"):
        world.transcript(session)
        world.put(session)
    report, _asked = world.work(ZeroDivisionError("oops"), ANSWER)
    assert report.counts == {"later": 1, "wrote": 1}
    assert "ZeroDivisionError: oops" in world.log()


def test_a_second_worker_leaves_the_queue_to_the_first(world: World) -> None:
    world.transcript("s1")
    world.put("s1")
    with open(world.state / "queue/.worker.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        report, asked = world.work(ANSWER)
    assert (report.busy, asked) == (True, [])
    assert len(world.queue().pending()) == 1
    assert "another worker is running, exiting" in world.log()


def test_disabled_does_nothing(world: World) -> None:
    world.transcript("s1")
    world.put("s1")
    world.configure("")
    report, asked = world.work(ANSWER)
    assert (report.held, asked) == ("disabled", [])
    assert len(world.queue().pending()) == 1


def test_secrets_reach_neither_the_model_nor_a_file(world: World) -> None:
    key = "sk-ant-api03-" + "a1B2" * 12
    told = "my-own-secret-value-42"
    world.environ["SERVICE_TOKEN"] = told
    world.transcript("s1", prompt=f"The key is {key} and the token {told}; please mend the migration. " * 4)
    world.stop("s1")
    answer = json.loads(json.dumps(ANSWER))
    answer["decisions"][0]["summary"] = f"Use {key}"
    answer["handoff"] = [f"rotate {told}"]
    _report, asked = world.work(answer)
    written = b"".join(
        file.read_bytes() for file in world.home.rglob("*") if file.is_file() and ".claude" not in file.parts
    )
    for secret in (key, told):
        assert secret not in asked[0]
        assert secret.encode() not in written
    assert "[redacted:" in world.handoff()


def test_what_a_killed_worker_had_planned_is_carried_out_without_asking_again(world: World) -> None:
    world.transcript("s1")
    name = world.put("s1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hookline.memory.distill.write_results.apply_plan", _killed)
        with pytest.raises(KeyboardInterrupt):
            world.work(ANSWER)
    assert [file.name for file in (world.state / "queue/claimed").glob("*.plan")] == [f"{name}.plan"]
    report, asked = world.work({})
    assert (report.counts, asked) == ({"wrote": 1}, [])
    assert world.summaries("decisions.jsonl") == ["Use SQLite for the cache"]
    assert list((world.state / "queue/claimed").iterdir()) == []


def _killed(*_given: object) -> list[str]:
    raise KeyboardInterrupt


def test_a_full_disk_keeps_the_task_and_counts_no_try(world: World) -> None:
    world.transcript("s1")
    world.put("s1")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("hookline.memory.distill.write_results.apply_plan", _full)
        report, _asked = world.work(ANSWER)
    assert report.counts == {"later": 1}
    (waiting,) = world.queue().pending()
    assert waiting.task.tries == 0


def _full(*_given: object) -> list[str]:
    raise OSError(28, "No space left on device")


def test_a_task_that_cannot_be_claimed_makes_nobody_spin(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.transcript("s1")
    world.put("s1")
    monkeypatch.setattr("hookline.memory.queue.queue.Queue.claim", lambda *_: None)
    report, asked = world.work(ANSWER)
    assert (report.counts, asked) == ({}, [])


def test_a_clock_that_was_wrong_for_a_moment_takes_no_dead_letter_away(world: World) -> None:
    world.transcript("s1")
    world.put("s1")
    world.work("no JSON at all")
    worker.run(world.environ, cwd=str(world.bin), model=lambda _text: "{}", clock=lambda: time.time() + 4e8)
    assert len(task.dead_letters(str(world.state / "queue/dead"))) == 1


def test_ended_tasks_and_backups_do_not_grow_for_ever(world: World) -> None:
    for folder in ("queue/done", "compact-backups"):
        place = world.state / folder
        place.mkdir(parents=True)
        (place / "5-old.task").write_text("")
        set_time(place / "5-old.task", 1_600_000_000)
    world.transcript("s1")
    world.put("s1")
    world.work({})
    assert len(world.done()) == 1
    assert list((world.state / "compact-backups").iterdir()) == []


@pytest.mark.parametrize("error", [28, 30, 13])
def test_a_directory_that_cannot_be_made_is_no_fault_of_the_task(world: World, error: int) -> None:
    world.transcript("s1")
    world.put("s1")
    made = os.makedirs

    def refused(path: str, *args: object, **named: object) -> None:
        if "knowledge" in path:
            raise OSError(error, os.strerror(error), path)
        made(path, *args, **named)  # type: ignore[arg-type]  # as given

    report = worker.WorkerReport()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("os.makedirs", refused)
        for _ in range(6):
            report = worker.run(world.environ, cwd=str(world.bin), model=lambda _text: json.dumps(ANSWER), now=True)
    (waiting,) = world.queue().pending()
    assert (report.counts, waiting.task.tries) == ({"later": 1}, 0)
    told = f"name another directory: [knowledge] path in {world.home}/.config/hookline/hookline.toml"
    assert told in report.trouble
    assert told in waiting.task.reason
    report, asked = world.work({})
    assert (report.counts, asked) == ({}, [])
    worker.run(world.environ, cwd=str(world.bin), model=lambda _text: "never asked", now=True)
    assert world.summaries("decisions.jsonl") == ["Use SQLite for the cache"]


def test_a_transcript_that_cannot_be_read_uses_up_its_tries(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.transcript("s1")
    world.put("s1")

    def refused(*_args: object) -> None:
        raise PermissionError(13, "Permission denied", "/x.jsonl")

    monkeypatch.setattr("hookline.memory.distill.distill_task.digest_transcript", refused)
    world.work(ANSWER)
    (waiting,) = world.queue().pending()
    assert waiting.task.tries == 1
    assert "the transcript cannot be read" in waiting.task.reason


@pytest.mark.skipif(not os.path.exists("/proc/self/mem"), reason="a file that nobody can read, whoever asks")
def test_a_transcript_that_nobody_can_read_is_no_session_in_which_nothing_was_said(world: World) -> None:
    world.queue().put(
        DistillTask(cwd=str(world.project), session_jsonl="/proc/self/mem", session_id="s1", agent="claude-code")
    )
    world.work(ANSWER)
    (waiting,) = world.queue().pending()
    assert waiting.task.tries == 1
    assert "the transcript cannot be read" in waiting.task.reason


def test_a_large_log_is_cut_also_where_nothing_is_due(world: World) -> None:
    world.state.mkdir(parents=True)
    large = [world.state / name for name in ("compound-loop.log", "hooks.log")]
    for log in large:
        log.write_text("".join(f"{n:0300}\n" for n in range(600)))
    world.work(ANSWER)
    for log in large:
        assert log.read_text().splitlines() == [f"{n:0300}" for n in range(100, 600)]


def test_a_directory_of_the_persons_stays_as_open_as_it_is(world: World) -> None:
    mine = world.folder / "learnings"
    mine.mkdir(mode=0o755)
    world.environ["LCT_LEARNINGS_DIR"] = str(mine)
    world.transcript("s1")
    world.put("s1")
    world.work(ANSWER)
    assert len(list(mine.rglob("*.md"))) == 1
    assert mine.stat().st_mode & 0o777 == 0o755
    assert next(mine.iterdir()).stat().st_mode & 0o777 == 0o700
    for place in (world.data / "knowledge", world.data / "knowledge/memory", world.memory):
        assert place.stat().st_mode & 0o777 == 0o700


def test_on_a_file_system_without_locks_two_workers_do_not_take_each_others_tasks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    def none(*_args: object) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(fcntl, "flock", none)
    for session in ("s1", "s2"):
        world.transcript(session)
        world.put(session)
    claimed = world.queue().claim(world.queue().pending()[0])  # by a worker of this machine that is alive
    assert claimed is not None
    report, asked = world.work(ANSWER)
    assert (report.counts, len(asked)) == ({"wrote": 1}, 1)
    assert world.queue().claimed_names() == [claimed.name]
