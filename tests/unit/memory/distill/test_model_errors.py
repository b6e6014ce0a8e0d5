"""A model that gives no answer: whose fault it is, and when somebody is asked again."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import ANSWER, World

from hookline.llm.scripted import ModelServer
from hookline.memory.distill.backends import select_model
from hookline.memory.distill.model_errors import (
    ModelBusyError,
    ModelFailedError,
    ModelSetupError,
    error_from_status,
    retry_after_seconds,
)
from hookline.memory.queue import worker
from hookline.memory.queue.launch import WorkerLock
from hookline.memory.settings import CompoundLoop


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


@pytest.mark.parametrize("status", [301, 307, 401, 402, 403, 404, 405, 407, 410])
def test_what_only_a_person_can_mend_keeps_the_queue_waiting(status: int) -> None:
    assert type(error_from_status(status, "told", "")) is ModelSetupError


@pytest.mark.parametrize(
    ("status", "said"),
    [
        (400, "The model `q` does not exist"),
        (400, "Your credit balance is too low"),
        (400, "API key not valid. Please pass a valid API key."),
        (422, "model_not_found"),
        (429, "insufficient_quota"),
    ],
)
def test_the_words_beside_a_status_count(status: int, said: str) -> None:
    assert type(error_from_status(status, "told", said)) is ModelSetupError


@pytest.mark.parametrize("status", [408, 429, 503, 529])
def test_a_moment_passes_and_no_task_is_to_blame(status: int) -> None:
    error = error_from_status(status, "told", "", "17")
    assert (type(error), error.wait) == (ModelBusyError, 17.0)


@pytest.mark.parametrize("status", [400, 413, 422, 500, 502, 504])
def test_what_may_be_the_tasks_own_fault_uses_up_its_tries(status: int) -> None:
    assert type(error_from_status(status, "told", "")) is ModelFailedError


def test_retry_after_is_seconds_or_a_moment_and_nothing_else() -> None:
    soon = format_datetime(datetime.now(UTC) + timedelta(seconds=90), usegmt=True)
    assert retry_after_seconds("120") == 120.0
    assert 80 < retry_after_seconds(soon) <= 90
    assert retry_after_seconds("999999999") == 3600.0
    assert [retry_after_seconds(text) for text in ("", "soon", "-5", "nan", "Thu, 01 Jan 1970 00:00:00 GMT")] == [
        0.0
    ] * 5


@pytest.mark.parametrize(
    ("said", "kind"),
    [
        ("Not logged in · Please run /login", ModelSetupError),
        ("Invalid API key · Fix external API key", ModelSetupError),
        ("Failed to authenticate. API Error: 403 msg", ModelSetupError),
        ("There's an issue with the selected model (x). It may not exist or you may not have access to it.", ModelSetupError),
        ("Credit balance is too low", ModelSetupError),
        ("API Error: Request rejected (429) · msg", ModelBusyError),
        ("API Error: 529 msg. This is a server-side issue", ModelBusyError),
        ("API Error: Connection refused — a firewall or proxy may be blocking it (ECONNREFUSED)", ModelBusyError),
        ("boom", ModelFailedError),
    ],
)  # fmt: skip
def test_claudes_own_words_are_understood(world: World, said: str, kind: type[ModelFailedError]) -> None:
    world.claude(f"print({said!r})\nsys.exit(1)")
    ask = select_model(CompoundLoop(enabled=True), world.environ, state=str(world.state), names={})
    with pytest.raises(ModelFailedError) as caught:
        ask("question")
    assert type(caught.value) is kind


def test_a_claude_that_cannot_be_started_is_no_fault_of_a_task(world: World) -> None:
    world.claude("")
    (world.bin / "claude").write_text("#!/no/such/interpreter\n")
    ask = select_model(CompoundLoop(enabled=True), world.environ, state=str(world.state), names={})
    with pytest.raises(ModelSetupError, match="interpreter"):
        ask("question")


@pytest.mark.parametrize(
    ("status", "kind"), [(401, ModelSetupError), (404, ModelSetupError), (529, ModelBusyError), (500, ModelFailedError)]
)
def test_any_other_model_is_understood_by_its_status(world: World, status: int, kind: type[ModelFailedError]) -> None:
    pytest.importorskip("pydantic_ai")
    with ModelServer([{"error": {"status": status, "message": "no"}}]) as server:
        world.environ.update(server.environ())
        ask = select_model(
            CompoundLoop(enabled=True, model="openai:x"), world.environ, state=str(world.state), names={}
        )
        with pytest.raises(ModelFailedError) as caught:
            ask("question")
    assert type(caught.value) is kind


def test_any_other_model_that_is_not_there_is_asked_later(world: World) -> None:
    pytest.importorskip("pydantic_ai")
    world.environ.update({"OPENAI_BASE_URL": "http://127.0.0.1:9/v1", "OPENAI_API_KEY": "key-1234567"})
    ask = select_model(CompoundLoop(enabled=True, model="openai:x"), world.environ, state=str(world.state), names={})
    with pytest.raises(ModelBusyError):
        ask("question")


# ── what the worker makes of it ──────────────────────────────────────────────────────────────────────


def queued(world: World, count: int) -> None:
    for number in range(count):
        world.transcript(f"{number}-session")
        world.put(f"{number}-session")


def test_a_refusal_is_asked_about_twice_and_then_everybody_waits_with_the_reason(world: World) -> None:
    queued(world, 4)
    report, asked = world.work(ModelSetupError("no key", wait=60.0))
    assert (report.held, len(asked)) == ("no key", 2)
    waiting = world.queue().pending()
    assert [(one.task.tries, one.task.reason) for one in waiting] == [(0, "no key")] * 2 + [(0, "")] * 2
    report, _asked = world.work(ANSWER)  # a person who has mended it need not wait
    assert report.counts["wrote"] + report.counts.get("nothing", 0) == 4


def test_a_session_that_is_refused_alone_holds_up_nobody(world: World) -> None:
    queued(world, 3)
    report, asked = world.work(ModelSetupError("not this one", wait=60.0), ANSWER)
    assert (report.held, len(asked)) == ("not this one", 3)
    assert len(world.queue().pending()) == 1


def test_in_the_background_nobody_asks_again_at_once(world: World) -> None:
    queued(world, 1)

    def refuse(_text: str) -> str:
        raise ModelSetupError("no key", wait=60.0)

    worker.run(world.environ, cwd=str(world.bin), model=refuse, by_hand=False)
    (waiting,) = world.queue().pending()
    assert 10 < waiting.task.due - time.time() <= 60
    assert not world.queue().has_work()


def test_while_nobody_is_answered_the_others_are_not_asked_for(world: World) -> None:
    queued(world, 3)
    report, asked = world.work(ModelBusyError("busy", wait=40.0))
    assert (report.counts, len(asked)) == ({"later": 3}, 1)
    for one in world.queue().pending():
        assert (one.task.tries, one.task.reason) == (0, "busy")
        assert 0 < one.task.due - time.time() <= 40
    report, asked = world.work(ANSWER)
    assert (report.counts, asked) == ({}, [])
    worker.run(world.environ, cwd=str(world.bin), model=lambda _text: "{}", now=True)
    assert world.queue().pending() == []


def test_a_server_that_wants_to_be_left_alone_longer_is(world: World) -> None:
    queued(world, 1)
    world.work(ModelFailedError("broken", wait=300.0))
    (waiting,) = world.queue().pending()
    assert waiting.task.tries == 1
    assert 200 < waiting.task.due - time.time() <= 300


def test_now_tries_everything_once(world: World) -> None:
    queued(world, 2)
    asked: list[str] = []

    def fail(text: str) -> str:
        asked.append(text)
        raise ModelFailedError("broken")

    for _ in range(2):
        worker.run(world.environ, cwd=str(world.bin), model=fail, now=True)
    assert len(asked) == 4


def test_a_worker_that_only_waits_is_woken_by_a_person_who_wants_it_now(world: World) -> None:
    queued(world, 2)
    asked: list[str] = []

    def busy_at_first(text: str) -> str:
        asked.append(text)
        if len(asked) == 1:
            world.queue().wake()  # as a second worker does that was started with --now
            raise ModelBusyError("busy", wait=40.0)
        return "{}"

    began = time.monotonic()
    report = worker.run(world.environ, cwd=str(world.bin), model=busy_at_first, patience=60.0, by_hand=False)
    assert time.monotonic() - began < 30
    assert (report.counts, len(asked)) == ({"later": 2, "nothing": 2}, 3)
    assert not world.queue().take_wake_request()


def test_who_comes_with_now_while_another_works_wakes_it(world: World) -> None:
    queued(world, 1)
    with WorkerLock(str(world.state / "queue/.worker.lock")) as held:
        assert held
        report = worker.run(world.environ, cwd=str(world.bin), model=lambda _text: "{}", now=True)
    assert report.busy
    assert world.queue().take_wake_request()


def test_where_a_person_must_help_nobody_waits_in_the_background(world: World) -> None:
    queued(world, 1)

    def refuse(_text: str) -> str:
        raise ModelSetupError("no key", wait=60.0)

    worker.run(world.environ, cwd=str(world.bin), model=refuse, by_hand=False)
    world.transcript("later")
    world.put("later")
    began = time.monotonic()
    report = worker.run(world.environ, cwd=str(world.bin), model=refuse, patience=120.0, by_hand=False)
    assert time.monotonic() - began < 60
    assert report.held == "no key"
