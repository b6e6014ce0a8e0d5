"""A session whose last turns were passed over, and that never said its end, is queued when the next one begins."""

from __future__ import annotations

import os
import time
from functools import partial
from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.unit.memory.loop_world import World

from hookline.core._dataclass import replace
from hookline.memory.context import hook_context
from hookline.memory.inject.context_inject import context_inject
from hookline.memory.notes.session_export import session_export
from hookline.memory.queue import enqueue, worker
from hookline.memory.queue.launch import WorkerLock
from hookline.memory.queue.queue import Queue

CONFIG = '[compound_loop]\nenabled = true\nbackend = "nobody"\n'


@pytest.fixture
def world(tmp_path: Path) -> World:
    """Session s1 was queued and distilled, and had one more turn that came too soon."""
    made = World(tmp_path, CONFIG)
    made.transcript("s1")
    session_export(made.event("s1"))
    assert made.stop("s1").name
    made.work('{"handoff": ["go on"]}')
    made.transcript("s1", turns=4)
    later(made, 20)
    session_export(made.event("s1"))
    assert made.stop("s1").skip_reason == "no new activity"
    return made


def later(world: World, seconds: float) -> None:
    moment = time.time() + seconds
    os.utime(world.transcript_file("s1"), (moment, moment))


def start(world: World, session: str) -> list[str]:
    """The sessions that wait after another one has begun. As if a worker ran: a real one would take them meanwhile."""
    event = world.event(session, "SessionStart")
    context = hook_context(event, "context-inject")
    assert context is not None
    with WorkerLock(context.places.worker_lock) as held:
        assert held
        context_inject(replace(event, data={"source": "startup"}))
    return [one.task.session_id for one in Queue(str(world.state / "queue")).pending()]


def test_the_next_start_queues_it_once(world: World) -> None:
    assert start(world, "s2") == ["s1"]
    (waiting,) = Queue(str(world.state / "queue")).pending()
    assert waiting.task.session_jsonl == str(world.transcript_file("s1"))
    later(world, 0)
    assert start(world, "s3") == ["s1"]


def test_the_same_session_that_goes_on_is_left_alone(world: World) -> None:
    assert start(world, "s1") == []


def test_an_agent_that_notes_its_end_after_the_task_has_not_gone_on(world: World) -> None:
    moment = max(world.queue().ended("s1")) + 1
    os.utime(world.transcript_file("s1"), (moment, moment))
    assert start(world, "s2") == []


def test_a_transcript_that_is_gone_is_left_alone(world: World) -> None:
    world.transcript_file("s1").unlink()
    assert start(world, "s2") == []


def test_where_nothing_is_distilled_nothing_is_queued(world: World) -> None:
    world.configure("[compound_loop]\nenabled = false\n")
    assert start(world, "s2") == []


def test_a_session_that_was_never_queued_is_none_of_ours(tmp_path: Path) -> None:
    world = World(tmp_path, CONFIG)
    world.transcript("s1")
    session_export(world.event("s1"))
    assert start(world, "s2") == []


@pytest.fixture
def quiet(tmp_path: Path) -> World:
    """Session s1 had a turn, and its agent would say its end."""
    made = World(tmp_path, CONFIG)
    made.transcript("s1")
    session_export(made.event("s1"))
    assert made.stop("s1", patient=True).name
    return made


def test_a_turn_is_distilled_when_the_session_is_over(quiet: World) -> None:
    assert quiet.work({})[0].counts == {}
    quiet.transcript("s1", turns=4)
    assert quiet.stop("s1", force=True).name
    (waiting,) = quiet.queue().pending()
    assert not waiting.task.due
    report, asked = quiet.work('{"handoff": ["go on"]}')
    assert (report.counts, len(asked)) == ({"wrote": 1}, 1)


def test_a_session_that_goes_on_waits_longer(quiet: World) -> None:
    (before,) = quiet.queue().pending()
    age = before.since - 100
    os.utime(quiet.state / "queue" / before.name, (age, age))
    assert quiet.stop("s1", patient=True).skip_reason == "it waits for the session's end"
    (after,) = quiet.queue().pending()
    assert after.task.due > before.task.due


def test_the_next_session_does_not_wait_for_the_end_of_one_that_is_quiet(quiet: World) -> None:
    start(quiet, "s2")  # they may go on side by side
    assert quiet.queue().postponed("s1")
    later(quiet, -100)
    start(quiet, "s3")
    assert not quiet.queue().postponed("s1")


def test_a_worker_stays_until_a_session_was_quiet_and_asks_once(quiet: World, monkeypatch: pytest.MonkeyPatch) -> None:
    now, asked = [time.time()], list[str]()

    def pass_a_minute(_seconds: float) -> None:
        now[0] += 60
        if now[0] - began < 300:  # the person goes on
            (waiting,) = queue.pending()
            queue.postpone(waiting, 600)

    began, queue = now[0], Queue(str(quiet.state / "queue"), clock=lambda: now[0])
    monkeypatch.setattr(worker, "time", SimpleNamespace(sleep=pass_a_minute, monotonic=lambda: now[0]))
    run = partial(worker.run, quiet.environ, cwd=str(quiet.project), clock=lambda: now[0])
    answer = partial(_answer, asked)
    assert (run(model=answer).counts, asked) == ({}, [])  # a person does not wait
    assert (run(model=answer, by_hand=False).counts, len(asked)) == ({"wrote": 1}, 1)
    assert 800 < now[0] - began < 1000


def _answer(asked: list[str], text: str) -> str:
    asked.append(text)
    return '{"handoff": ["go on"]}'


@pytest.mark.parametrize(("agent", "starts"), [("codex", True), ("qwen-code", True), ("claude-code", False)])
def test_a_worker_waits_where_the_agent_may_not_say_the_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agent: str, starts: bool
) -> None:
    world = World(tmp_path, CONFIG)
    world.transcript("s1")
    monkeypatch.setattr(enqueue, "start_worker", lambda *_: True)
    scene = hook_context(world.event("s1", agent=agent), "compound-loop")
    assert scene is not None
    assert enqueue.enqueue(scene).started is starts
    (waiting,) = world.queue().pending()
    assert waiting.task.awaits_end
