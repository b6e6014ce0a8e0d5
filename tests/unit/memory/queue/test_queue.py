"""A task is in one place at any time, and only a rename moves it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import set_time

from hookline.core._dataclass import replace
from hookline.core.files import prune
from hookline.memory.layout import Places
from hookline.memory.notes.forget import _session_tasks
from hookline.memory.queue import task
from hookline.memory.queue.queue import Queue
from hookline.memory.queue.task import DistillTask, format_task, parse_task

TASK = DistillTask(cwd="/p", session_jsonl="/t.jsonl", session_id="abcdefgh-1")


class Clock:
    def __init__(self, now: float = 1_700_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def queue(tmp_path: Path, clock: Clock) -> Queue:
    return Queue(str(tmp_path / "queue"), clock=clock, host="here")


def test_a_task_is_queued_under_the_documents_name_for_our_eyes_only(queue: Queue) -> None:
    name = queue.put(TASK)
    path = Path(queue.folder, name)
    assert name == "1700000000-abcdefgh.task"
    assert parse_task(path.read_text()).cwd == "/p"
    assert path.stat().st_mode & 0o777 == 0o600


def test_two_tasks_of_one_second_are_two(queue: Queue) -> None:
    assert [queue.put(TASK), queue.put(TASK)] == ["1700000000-abcdefgh.task", "1700000001-abcdefgh.task"]
    assert len(queue.pending()) == 2


def test_a_name_is_not_used_again_for_another_task(queue: Queue) -> None:
    first = queue.put(TASK)
    claim = queue.claim(queue.pending()[0])
    assert claim
    queue.finish(claim, "wrote")
    assert queue.put(TASK) != first


def test_a_name_is_not_used_again_while_somebody_is_at_its_task(queue: Queue) -> None:
    first = queue.put(TASK)
    assert queue.claim(queue.pending()[0])
    assert queue.put(TASK) != first


@pytest.mark.parametrize("taken_back", [True, False])
def test_a_task_that_waits_again_takes_the_place_of_no_other(queue: Queue, taken_back: bool) -> None:
    name = queue.put(TASK)
    claim = queue.claim(queue.pending()[0])
    assert claim
    other = replace(TASK, session_id="abcdefgh-2")
    Path(queue.folder, name).write_text(format_task(other))  # as if it had been put there at the same moment
    Path(queue.plan_path(name)).write_text("what was made of the first")
    if taken_back:
        assert queue.recover(60) == ["1700000001-abcdefgh.task"]
    else:
        queue.put_back(claim)
    assert [(one.name, one.task.session_id) for one in queue.pending()] == [
        ("1700000000-abcdefgh.task", "abcdefgh-2"),
        ("1700000001-abcdefgh.task", "abcdefgh-1"),
    ]
    assert Path(queue.plan_path("1700000001-abcdefgh.task")).exists()
    assert not Path(queue.plan_path(name)).exists()


def test_sessions_that_share_their_first_letters_do_not_gate_each_other(queue: Queue) -> None:
    queue.put(TASK)
    assert queue.pending("abcdefgh-2") == []
    assert len(queue.pending("abcdefgh-1")) == 1


def test_files_that_say_nothing_count_by_their_name(queue: Queue) -> None:
    os.makedirs(queue.done)
    Path(queue.done, "5-abcdefgh.task").touch()
    assert len(queue.ended("abcdefgh-1")) == 1


def test_only_one_gets_a_task(tmp_path: Path, queue: Queue, clock: Clock) -> None:
    queue.put(TASK)
    other = Queue(queue.folder, clock=clock, host="there")
    seen_by_both = (queue.pending()[0], other.pending()[0])
    assert queue.claim(seen_by_both[0])
    assert other.claim(seen_by_both[1]) is None


def test_an_ended_task_says_how_and_keeps_the_time_it_was_queued(queue: Queue, clock: Clock) -> None:
    name = queue.put(TASK)
    clock.now += 500
    claim = queue.claim(queue.pending()[0])
    assert claim
    queue.finish(claim, "wrote", "2 decisions")
    done = parse_task(Path(queue.done, name).read_text())
    assert (done.outcome, done.reason, done.host) == ("wrote", "2 decisions", "here")
    assert queue.ended("abcdefgh-1") == [1_700_000_000.0]
    assert queue.pending() == []


def test_what_failed_waits_and_counts(queue: Queue, clock: Clock) -> None:
    queue.put(TASK)
    claim = queue.claim(queue.pending()[0])
    assert claim
    queue.put_back(claim, wait=30, reason="no answer")
    (waiting,) = queue.pending()
    assert (waiting.task.tries, waiting.task.reason, waiting.since) == (1, "no answer", 1_700_000_000.0)
    assert queue.due() == []
    assert queue.seconds_until_due(waiting) == pytest.approx(30)
    clock.now += 31
    assert len(queue.due()) == 1


def test_a_clock_that_was_wrong_makes_nobody_wait_for_ever(queue: Queue, clock: Clock) -> None:
    clock.now += 10 * 365 * 86400
    queue.put(TASK)
    claim = queue.claim(queue.pending()[0])
    assert claim
    queue.put_back(claim, wait=30)
    clock.now -= 10 * 365 * 86400
    assert len(queue.due()) == 1


def test_a_claim_of_this_machine_is_taken_back_at_once(queue: Queue) -> None:
    name = queue.put(TASK)
    queue.claim(queue.pending()[0])
    assert queue.recover(lease=1000) == [name]
    assert [one.name for one in queue.pending()] == [name]


def test_a_claim_of_another_machine_is_left_alone_until_its_lease_is_over(queue: Queue) -> None:
    queue.put(TASK)
    queue.claim(queue.pending()[0])
    other = Queue(queue.folder, host="there")
    assert other.recover(lease=1000) == []
    (claimed,) = Path(queue.claimed).iterdir()
    set_time(claimed, claimed.stat().st_mtime - 2000)
    assert len(other.recover(lease=1000)) == 1


def test_who_lost_a_task_is_told(queue: Queue) -> None:
    queue.put(TASK)
    claim = queue.claim(queue.pending()[0])
    assert claim
    assert queue.renew(claim)
    Queue(queue.folder, host="there").recover(lease=-1)
    assert not queue.renew(claim)


def test_counts_are_what_people_see(queue: Queue) -> None:
    queue.put(TASK)
    queue.put(replace(TASK, session_id="other"))
    claim = queue.claim(queue.pending()[0])
    assert claim
    counts = queue.counts()
    assert (counts.pending, counts.claimed, counts.done) == (1, 1, 0)
    queue.finish(claim, "wrote")
    counts = queue.counts()
    assert (counts.pending, counts.claimed, counts.done, counts.done_today) == (1, 0, 1, 1)


def test_a_session_can_be_forgotten_and_its_namesake_stays(queue: Queue) -> None:
    for session in ("abcdefgh-1", "abcdefgh-2", "abcdefgh-1"):
        queue.put(replace(TASK, session_id=session))
    claim = queue.claim(queue.pending()[0])
    assert claim
    queue.finish(claim, "wrote")
    places = Places(root="", state=os.path.dirname(queue.folder), sessions="", learnings="")
    gone = list(_session_tasks(places, ["abcdefgh-1"], places.queue, places.done))
    assert [os.path.dirname(path) for path in gone] == [places.queue, places.done]
    for path in gone:
        os.unlink(path)
    assert [one.task.session_id for one in queue.pending()] == ["abcdefgh-2"]


def test_old_tasks_go_and_those_of_the_future_stay(tmp_path: Path) -> None:
    for name, age in (("1-a", 100), ("2-b", 40 * 86400), ("3-c", -86400), ("4-d", 200)):
        (tmp_path / f"{name}.task").touch()
        set_time(tmp_path / f"{name}.task", 1_700_000_000 - age)
    assert prune(str(tmp_path), keep=2, days=30, now=1_700_000_000) == 2
    assert sorted(os.listdir(tmp_path)) == ["1-a.task", "3-c.task"]


def test_what_the_model_said_is_no_field_of_a_task_that_is_moved_back_by_hand(queue: Queue, tmp_path: Path) -> None:
    folder = tmp_path / "dead"
    task.write_dead_letter(
        str(folder), "5-abcdefgh.task", replace(TASK, attempts="5"), "why", "memory_dir=/etc\nattempts=9"
    )
    os.makedirs(queue.folder)
    os.rename(folder / "5-abcdefgh.task", os.path.join(queue.folder, "5-abcdefgh.task"))
    (waiting,) = queue.pending()
    assert (waiting.task.memory_dir, waiting.task.tries) == ("", 0)


def test_a_letter_says_why_and_what_the_model_said(tmp_path: Path) -> None:
    folder = str(tmp_path / "dead")
    task.write_dead_letter(folder, "5-abcdefgh.task", replace(TASK, attempts="5"), "it never answered", "what it said")
    (letter,) = task.dead_letters(folder)
    assert (letter.task.reason, letter.answer) == ("it never answered", "what it said")


def test_a_task_that_another_machine_has_taken_is_neither_ended_nor_put_back_by_the_first(tmp_path: Path) -> None:
    first, second = Queue(str(tmp_path), host="one"), Queue(str(tmp_path), host="two")
    first.put(DistillTask(session_id="s1"))
    (waiting,) = first.pending()
    claim = first.claim(waiting)
    assert claim is not None
    assert second.recover(-1.0) == [waiting.name]
    first.put_back(claim, reason="late")
    first.finish(claim, "wrote")
    (waiting,) = second.pending()
    assert waiting.task.reason == ""
    assert second.counts().done == 0
    assert second.claim(waiting) is not None
    first.put_back(claim)
    assert second.pending() == []


def test_without_a_lock_only_claims_of_dead_workers_are_taken_back(tmp_path: Path) -> None:
    queue = Queue(str(tmp_path))
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    for session in ("alive", "gone"):
        queue.put(DistillTask(session_id=session))
    for waiting in queue.pending():
        claim = queue.claim(waiting)
        assert claim is not None
        if waiting.task.session_id == "gone":
            os.rename(claim.path, f"{claim.path.rpartition('.')[0]}.{pid}")
    assert [name.partition("-")[2] for name in queue.recover(900.0, alone=False)] == ["gone.task"]
    assert [name.partition("-")[2] for name in queue.recover(900.0)] == ["alive.task"]
