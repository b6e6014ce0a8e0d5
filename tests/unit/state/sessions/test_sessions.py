from __future__ import annotations

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from hookline.core.hook import Gates
from hookline.core.session_facts import Facts
from hookline.state.sessions import MemorySessions
from hookline.state.sessions.sqlite import StoredSessions

CLAIMER = """
import sys
from hookline.core.hook import Gates
from hookline.state.sessions.sqlite import StoredSessions
sessions = StoredSessions(sys.argv[1])
print("ready", flush=True)
sys.stdin.readline()
for hook in range(50):
    print(sessions.claim("s", f"h{hook}", Gates(once_per_session=True), 1.0) or "won", flush=True)
for _ in range(100):
    sessions.begin("s", "Stop", typed=True)
sys.stderr.write(sessions.note)
"""


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "state" / "sessions.db")


@pytest.fixture(params=["memory", "stored"])
def sessions(request, path):
    made = MemorySessions() if request.param == "memory" else StoredSessions(path)
    yield made
    assert made.note == ""
    made.close()


def claim(sessions, now: float, **gates) -> str:
    return str(sessions.claim("s", "h", Gates(**gates), now))


def test_a_typed_prompt_opens_a_turn_and_other_events_do_not(sessions) -> None:
    assert sessions.begin("s", "UserPromptSubmit", typed=True, prompt="one") == Facts(
        turn=1, generation=1, last_prompt="one"
    )
    assert sessions.begin("s", "Stop", typed=False) == Facts(turn=1, generation=1, last_prompt="one")
    assert sessions.begin("s", "UserPromptSubmit", typed=False) == Facts(turn=1, generation=2, last_prompt="one")
    assert sessions.begin("s", "UserPromptSubmit", typed=True, prompt="two").turn == 2


def test_a_caller_that_counts_turns_itself_wins(sessions) -> None:
    assert sessions.begin("s", "UserPromptSubmit", typed=True, turn=7).turn == 7
    assert sessions.begin("s", "UserPromptSubmit", typed=True).turn == 8


def test_a_new_turn_forgives_continuations_and_keeps_the_mode(sessions) -> None:
    sessions.settle("s", mode="plan", continuations=3)
    assert sessions.begin("s", "Stop", typed=False) == Facts(mode="plan", continuations=3, generation=1)
    assert sessions.begin("s", "UserPromptSubmit", typed=True) == Facts(turn=1, mode="plan", generation=1)
    sessions.settle("s", mode="", continuations=None)
    assert sessions.peek("s", "Stop").mode == ""


def test_peeking_changes_nothing(sessions) -> None:
    assert sessions.peek("s", "Stop", typed=True, prompt="x") == Facts(turn=1, last_prompt="x")
    assert sessions.peek("s", "Stop") == Facts()
    assert sessions.prune(1e12) == 0


def test_sessions_do_not_know_one_another(sessions) -> None:
    sessions.begin("a", "Stop", typed=True)
    assert sessions.peek("b", "Stop") == Facts()


def test_once_means_once_in_a_session(sessions) -> None:
    assert claim(sessions, 1.0, once_per_session=True) == ""
    assert claim(sessions, 9999.0, once_per_session=True) == "already ran in this session"
    sessions.forget("s")
    assert claim(sessions, 9999.0, once_per_session=True) == ""


def test_debounce_says_how_long_ago_it_was(sessions) -> None:
    assert claim(sessions, 100.0, debounce=30.0) == ""
    assert claim(sessions, 103.0, debounce=30.0) == "ran 3 s ago, debounce is 30 s"
    assert claim(sessions, 130.0, debounce=30.0) == ""


def test_a_rate_counts_the_last_minute_only(sessions) -> None:
    assert [claim(sessions, now, max_per_minute=2) for now in (0.0, 10.0)] == ["", ""]
    assert claim(sessions, 20.0, max_per_minute=2) == "ran 2 times in the last minute"
    assert claim(sessions, 61.0, max_per_minute=2) == ""


def test_a_clock_that_was_set_back_locks_no_hook_out(sessions) -> None:
    assert claim(sessions, 1e9, debounce=30.0) == ""
    assert claim(sessions, 5.0, debounce=30.0) == ""


def test_asking_is_not_taking(sessions) -> None:
    gates = Gates(once_per_session=True)
    assert sessions.would_claim("s", "h", gates, 1.0) == ""
    assert sessions.claim("s", "h", gates, 1.0) == ""
    assert sessions.would_claim("s", "h", gates, 1.0) == "already ran in this session"


def test_threads_count_every_firing_once(sessions) -> None:
    threads = [
        threading.Thread(target=lambda: [sessions.begin("s", "Stop", typed=True) for _ in range(50)]) for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sessions.peek("s", "Stop") == Facts(turn=200, generation=200)


@pytest.mark.slow
def test_of_many_processes_exactly_one_wins_each_claim_and_no_turn_is_lost(path) -> None:
    claimers = [
        subprocess.Popen(
            [sys.executable, "-c", CLAIMER, path],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        )
        for _ in range(4)
    ]  # fmt: skip
    for process in claimers:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
    told = []
    for process in claimers:
        assert process.stdin is not None
        process.stdin.write("go\n")
        process.stdin.flush()
    for process in claimers:
        output, errors = process.communicate(timeout=100)
        assert (process.returncode, errors) == (0, "")
        told.append(output.splitlines())
    assert [sum(lines[hook] == "won" for lines in told) for hook in range(50)] == [1] * 50
    assert StoredSessions(path).peek("s", "Stop") == Facts(turn=400, generation=400)


def test_another_process_that_names_the_session_goes_on_with_it(path) -> None:
    first, second = StoredSessions(path), StoredSessions(path)
    first.begin("s", "UserPromptSubmit", typed=True, prompt="hello")
    assert second.begin("s", "UserPromptSubmit", typed=True).turn == 2


def test_a_session_without_a_name_is_the_callers_alone(path) -> None:
    first, second = StoredSessions(path), StoredSessions(path)
    first.begin("", "Stop", typed=True)
    assert first.peek("", "Stop").turn == 1
    assert second.peek("", "Stop").turn == 0
    assert not os.path.exists(path)


def test_a_prompt_is_cleaned_before_it_is_written_and_the_file_is_private(path) -> None:
    sessions = StoredSessions(path, clean=lambda text: text.replace("hunter2", "***"))
    sessions.begin("s", "UserPromptSubmit", typed=True, prompt="my password is hunter2")
    sessions.close()
    assert all(b"hunter2" not in file.read_bytes() for file in Path(path).parent.iterdir())
    assert stat.S_IMODE(os.stat(path).st_mode) == 0o600


def test_a_place_that_cannot_be_written_leaves_sessions_in_memory(tmp_path) -> None:
    (tmp_path / "state").write_text("a file where the directory should be")
    sessions = StoredSessions(str(tmp_path / "state" / "sessions.db"))
    assert sessions.begin("s", "Stop", typed=True).turn == 1
    assert sessions.begin("s", "Stop", typed=True).turn == 2
    assert "memory only" in sessions.note


@pytest.mark.parametrize("content", [b"rubbish" * 1000, b"SQLite format 3\0" + b"\xff" * 5000])
def test_a_broken_file_is_kept_aside(path, content) -> None:
    Path(path).parent.mkdir()
    Path(path).write_bytes(content)
    sessions = StoredSessions(path)
    assert sessions.begin("s", "Stop", typed=True).turn == 1
    assert "corrupt-" in sessions.note
    assert StoredSessions(path).peek("s", "Stop").turn == 1


def test_old_sessions_are_forgotten(path) -> None:
    now = [100.0]
    sessions = StoredSessions(path, clock=lambda: now[0])
    sessions.begin("old", "Stop", typed=True)
    now[0] = 200.0
    sessions.begin("new", "Stop", typed=True)
    assert sessions.prune(150.0) == 1
    assert (sessions.peek("old", "Stop").turn, sessions.peek("new", "Stop").turn) == (0, 1)


def test_a_failure_that_is_over_is_told_no_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that stays would say for ever that nothing is kept."""
    monkeypatch.setattr("hookline.state.database.RETRY_AFTER", 0.0)
    state = tmp_path / "state"
    state.write_text("a file where the directory should be")
    sessions = StoredSessions(str(state / "sessions.db"))
    sessions.begin("s", "Stop", typed=False)
    assert "in memory only" in sessions.note

    state.unlink()
    sessions.begin("s", "Stop", typed=False)

    assert sessions.note == ""
    sessions.close()


def test_a_secret_in_the_name_of_a_session_is_not_on_the_disk_and_the_session_is_its_own(path) -> None:
    from hookline.state.record.redact import Redactor

    one, other = (f"run-password={letter}bcd1234" for letter in "ax")
    sessions = StoredSessions(path, clean=Redactor({}).text)
    sessions.begin(one, "Stop", typed=True)
    sessions.begin(one, "Stop", typed=True)
    assert sessions.begin(other, "Stop", typed=True).turn == 1
    assert StoredSessions(path, clean=Redactor({}).text).peek(one, "Stop").turn == 2
    sessions.close()
    kept = b"".join(file.read_bytes() for file in Path(path).parent.iterdir())
    assert b"bcd1234" not in kept
