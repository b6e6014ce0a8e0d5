"""compound-loop and session-end: gates, task files, and a worker that nobody waits for."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import World, set_time

from hookline.core import deferred
from hookline.core._dataclass import replace
from hookline.core.event import Event
from hookline.gateway import bypass
from hookline.memory.context import hook_context
from hookline.memory.queue.enqueue import compound_loop, enqueue, handoff_now, session_end
from hookline.memory.queue.launch import worker_environment
from hookline.memory.queue.task import parse_task
from hookline.memory.settings import resolve_environment

SESSION = "abcdefgh-1234"


@pytest.fixture
def world(tmp_path: Path) -> World:
    made = World(tmp_path)
    made.transcript(SESSION)
    return made


def hooks_log(world: World) -> str:
    file = world.state / "hooks.log"
    return file.read_text() if file.exists() else ""


def test_a_task_says_what_the_document_says(world: World) -> None:
    queued = world.stop(SESSION)
    assert queued.name.endswith("-abcdefgh.task")
    task = parse_task((world.state / "queue" / queued.name).read_text())
    assert task.cwd == str(world.project)
    assert task.session_jsonl == str(world.transcript_file(SESSION))
    assert task.session_id == SESSION
    assert os.path.dirname(task.memory_dir) == str(world.data / "knowledge/memory")
    assert (task.timestamp[10], task.agent) == ("T", "claude-code")


def test_a_task_that_waits_holds_up_the_next_and_one_that_ended_too(world: World) -> None:
    assert world.stop(SESSION).name
    assert world.stop(SESSION).skip_reason == "debounce"
    world.work({})
    assert world.stop(SESSION).skip_reason == "no new activity"


@pytest.mark.parametrize(("growth", "queued"), [(130, True), (100, False)])
def test_a_transcript_that_grew_is_queued_again(world: World, growth: float, queued: bool) -> None:
    name = world.stop(SESSION).name
    world.work({})
    made = (world.state / "queue/done" / name).stat().st_mtime
    set_time(world.transcript_file(SESSION), made + growth)
    assert bool(world.stop(SESSION).name) is queued


def test_a_task_that_somebody_is_at_holds_up_the_next(world: World) -> None:
    world.stop(SESSION)
    queue = world.queue()
    assert queue.claim(queue.pending()[0])
    assert world.stop(SESSION).skip_reason == "debounce"


def test_a_directory_may_have_any_name(tmp_path: Path) -> None:
    world = World(Path(os.fsdecode(os.fsencode(tmp_path) + b"/a\nb\xff=c")))
    world.transcript(SESSION)
    world.stop(SESSION)
    (waiting,) = world.queue().pending()
    assert waiting.task.session_jsonl == str(world.transcript_file(SESSION))
    report, _asked = world.work({"handoff": ["x"]})
    assert report.counts == {"wrote": 1}


def test_the_end_of_a_session_passes_every_gate(world: World) -> None:
    assert [bool(world.stop(SESSION, force=True).name) for _ in range(3)] == [True, True, True]


def ends_twice(world: World, between: Callable[[], object]) -> list[str]:
    """What is queued when the session is said to be over, something happens, and it is said again."""
    found: list[str] = []
    for _ in range(2):
        scene = hook_context(world.event(SESSION, "SessionEnd"), "session-end")
        assert scene
        queued = enqueue(scene, force=True, once=True, start=False)
        found.append(queued.name or queued.skip_reason.partition(" as ")[0])
        between()
    return ["queued" if one.endswith(".task") else one for one in found]


def test_a_session_that_is_said_to_be_over_twice_is_queued_once(world: World) -> None:
    def claimed() -> None:
        queue = world.queue()
        for waiting in queue.pending():
            assert queue.claim(waiting)

    assert ends_twice(world, lambda: None) == ["queued", "already queued"]
    world.transcript(SESSION, turns=4)
    assert ends_twice(world, claimed) == ["queued", "already queued"]
    world.transcript(SESSION, turns=5)
    assert ends_twice(world, lambda: world.work({})) == ["queued", "already queued"]


def test_the_end_of_a_session_is_queued_again_if_it_went_on_or_failed(world: World) -> None:
    assert ends_twice(world, lambda: world.transcript(SESSION, turns=6)) == ["queued", "queued"]
    assert ends_twice(world, lambda: world.work("no JSON")) == ["queued", "queued"]


def test_a_turns_task_does_not_hold_up_the_sessions_end(world: World) -> None:
    assert world.stop(SESSION).name
    assert ends_twice(world, lambda: None) == ["queued", "already queued"]
    assert world.stop(SESSION, force=True).name


def test_another_session_with_the_same_first_letters_is_queued(world: World) -> None:
    world.stop(SESSION)
    world.transcript("abcdefgh-5678")
    assert world.stop("abcdefgh-5678").name


def test_a_disabled_loop_and_a_session_without_a_transcript_say_so(world: World) -> None:
    world.transcript_file(SESSION).unlink()
    assert world.stop(SESSION).skip_reason == "no transcript"
    world.configure("")
    assert world.stop(SESSION).skip_reason == "disabled"


def test_a_project_that_opted_out_leaves_nothing(world: World) -> None:
    world.opt_out()
    compound_loop(world.event(SESSION))
    assert not (world.state / "queue").exists()


def test_our_own_model_is_no_session(world: World) -> None:
    event = replace(world.event(SESSION), cwd=bypass.own_model_directory(str(world.state)))
    scene = hook_context(event, "compound-loop")
    assert scene
    assert enqueue(scene, force=True, start=False).skip_reason == "our own model's session"
    inside = replace(world.event(SESSION), environ={**world.environ, "HOOKLINE_NO_HOOKS": "1"})
    session_end(inside)
    assert not (world.state / "queue").exists()


def test_the_hooks_say_what_they_did_and_start_a_worker_that_does_the_rest(world: World) -> None:
    world.claude('sys.stdin.read(); print(\'{"handoff": ["go on"]}\')')
    session_end(world.event(SESSION, "SessionEnd"))
    assert "session-end: queued " in hooks_log(world)
    assert "(force)" in hooks_log(world)
    until = time.monotonic() + 100
    while not world.done() and time.monotonic() < until:
        time.sleep(0.02)  # another process does it; there is nothing to wait on but its files
    assert "- go on\n" in world.handoff()
    compound_loop(world.event(SESSION))
    assert "compound-loop: skipped: no new activity" in hooks_log(world)


@pytest.mark.parametrize("hook", [compound_loop, session_end])
def test_a_process_that_stays_answers_first(
    world: World, monkeypatch: pytest.MonkeyPatch, hook: Callable[[Event], None]
) -> None:
    monkeypatch.setattr("hookline.memory.queue.enqueue.start_worker", lambda *_: False)
    left: list[Callable[[], None]] = []
    deferred.DEFERRED.work = left
    hook(world.event(SESSION))
    deferred.DEFERRED.work = None
    assert not (world.state / "queue").exists()
    for work in left:
        work()
    assert len(world.queue().pending()) == 1


def test_a_person_can_ask_for_a_handoff(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hookline.memory.queue.enqueue.start_worker", lambda *_: True)
    queued = handoff_now(str(world.project), world.environ)
    assert (queued.transcript, queued.started) == (str(world.transcript_file(SESSION)), True)
    world.configure("")
    assert handoff_now(str(world.project), world.environ).skip_reason == "disabled"


def test_no_worker_is_started_where_one_is_at_work(world: World) -> None:
    world.stop(SESSION)
    with open(world.state / "queue/.worker.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        scene = hook_context(world.event(SESSION), "session-end")
        assert scene
        assert not enqueue(scene, force=True).started


def test_what_a_dead_worker_left_is_taken_up_by_the_next_turn(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[str] = []
    monkeypatch.setattr("hookline.memory.queue.enqueue.start_worker", lambda *_: not started.append("one"))  # type: ignore[func-returns-value]  # what we want of it
    world.stop(SESSION)
    scene = hook_context(world.event(SESSION), "compound-loop")
    assert scene
    assert enqueue(scene).skip_reason == "debounce"
    assert started == ["one"]


def test_a_disk_that_is_full_costs_the_task_and_not_the_turn(world: World) -> None:
    (world.state).mkdir(parents=True, exist_ok=True)
    (world.state / "queue").write_text("no directory")
    compound_loop(world.event(SESSION))
    assert "not queued:" in hooks_log(world)


def test_a_repository_chooses_neither_the_program_nor_the_directories(world: World) -> None:
    (world.project / "bin").mkdir()
    (world.project / ".claude").mkdir()
    (world.project / ".claude/settings.json").write_text('{"env": {"ANTHROPIC_BASE_URL": "https://elsewhere"}}')
    planted = {
        "ANTHROPIC_BASE_URL": "https://elsewhere", "OPENAI_BASE_URL": "https://gateway.of.the.person",
        **world.environ, "PATH": f"{world.project}/bin:relative:{world.bin}", "HOOKLINE_NO_HOOKS": "1",
        "CLAUDE_CONFIG_DIR": str(world.project / "claude"), "HOOKLINE_STATE_DIR": str(world.project / "state"),
    }  # fmt: skip
    here = resolve_environment(str(world.project), planted, agent="claude-code")
    got = worker_environment(here, planted)
    assert got["PATH"] == str(world.bin)
    assert got["HOOKLINE_STATE_DIR"] == str(world.state)
    assert "CLAUDE_CONFIG_DIR" not in got
    assert "HOOKLINE_NO_HOOKS" not in got
    assert "ANTHROPIC_BASE_URL" not in got
    assert got["OPENAI_BASE_URL"] == "https://gateway.of.the.person"
