"""Task files: the document's five lines, whatever stands in them."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from hookline.memory.queue.task import Task, in_order, is_for, name_of, short_id, task_from, text_of


def test_the_five_lines_of_the_document_come_first_also_when_empty() -> None:
    task = Task(
        cwd="/p", session_jsonl="/t.jsonl", session_id="abc", memory_dir="/m", timestamp="2026-11-15T10:00:00+01:00"
    )
    assert text_of(task) == (
        "cwd=/p\nsession_jsonl=/t.jsonl\nsession_id=abc\nmemory_dir=/m\ntimestamp=2026-11-15T10:00:00+01:00\n"
    )
    assert text_of(Task()) == "cwd=\nsession_jsonl=\nsession_id=\nmemory_dir=\ntimestamp=\n"


@given(st.text(st.characters(exclude_categories=["Cs"])), st.text(st.characters(exclude_categories=["Cs"])))
def test_no_value_can_become_another_field(cwd: str, session: str) -> None:
    task = Task(cwd=cwd, session_id=session, memory_dir="/m")
    assert task_from(text_of(task)) == task


def test_a_file_of_another_version_is_read_as_far_as_it_is_known() -> None:
    assert task_from("cwd=/p\nnonsense\nfuture=1\nsession_id=x=y\n") == Task(cwd="/p", session_id="x=y")


def test_numbers_that_are_none_count_as_nothing() -> None:
    task = Task(attempts="many", not_before="nan", created="inf")
    assert (task.tries, task.due, task.made) == (0, 0.0, 0.0)


def test_a_session_cannot_leave_the_directory_by_its_name() -> None:
    assert name_of(5, "../../etc/passwd") == "5-______et.task"
    assert short_id("") == "unknown"


def test_first_come_first_served_by_number_and_not_by_letters() -> None:
    assert in_order(["10-a.task", "9-b.task", "x.task", "9-a.task", ".worker.lock"]) == [
        "9-a.task",
        "9-b.task",
        "10-a.task",
    ]


def test_a_name_says_for_which_session_it_may_be() -> None:
    assert is_for("9-abcdefgh.task", "abcdefgh-1234")
    assert not is_for("9-abcdefgX.task", "abcdefgh-1234")
    assert is_for(name_of(9, "a-b-c-d-e-f"), "a-b-c-d-e-f")
    assert not is_for("9-x-abc.task", "abc")
