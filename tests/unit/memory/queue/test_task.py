"""Task files: the document's five lines, whatever stands in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hookline.memory.queue.task import (
    DistillTask,
    format_task,
    may_belong_to,
    parse_task,
    short_id,
    sort_tasks,
    task_name,
)


def test_the_five_lines_of_the_document_come_first_also_when_empty() -> None:
    task = DistillTask(
        cwd="/p", session_jsonl="/t.jsonl", session_id="abc", memory_dir="/m", timestamp="2026-11-15T10:00:00+01:00"
    )
    assert format_task(task) == (
        "cwd=/p\nsession_jsonl=/t.jsonl\nsession_id=abc\nmemory_dir=/m\ntimestamp=2026-11-15T10:00:00+01:00\n"
    )
    assert format_task(DistillTask()) == "cwd=\nsession_jsonl=\nsession_id=\nmemory_dir=\ntimestamp=\n"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_no_value_can_become_another_field(cwd: str, session: str) -> None:
    task = DistillTask(cwd=cwd, session_id=session, memory_dir="/m")
    assert parse_task(format_task(task)) == task


def test_a_file_of_another_version_is_read_as_far_as_it_is_known() -> None:
    assert parse_task("cwd=/p\nnonsense\nfuture=1\nsession_id=x=y\n") == DistillTask(cwd="/p", session_id="x=y")


def test_numbers_that_are_none_count_as_nothing() -> None:
    task = DistillTask(attempts="many", not_before="nan", created="inf")
    assert (task.tries, task.due, task.made) == (0, 0.0, 0.0)


def test_a_session_cannot_leave_the_directory_by_its_name() -> None:
    assert task_name(5, "../../etc/passwd") == "5-______et.task"
    assert short_id("") == "unknown"


def test_first_come_first_served_by_number_and_not_by_letters() -> None:
    assert sort_tasks(["10-a.task", "9-b.task", "x.task", "9-a.task", ".worker.lock"]) == [
        "9-a.task",
        "9-b.task",
        "10-a.task",
    ]


def test_a_name_says_for_which_session_it_may_be() -> None:
    assert may_belong_to("9-abcdefgh.task", "abcdefgh-1234")
    assert not may_belong_to("9-abcdefgX.task", "abcdefgh-1234")
    assert may_belong_to(task_name(9, "a-b-c-d-e-f"), "a-b-c-d-e-f")
    assert not may_belong_to("9-x-abc.task", "abc")
