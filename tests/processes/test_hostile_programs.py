"""Law 4, one hostile program at a time: bounded time, bounded memory, nothing of the group left."""

from __future__ import annotations

import collections
import os
import resource
import signal
import sys
import threading
import time
from pathlib import Path

import pytest
from tests.patience import SOON, eventually, open_files

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks for survivors in /proc")

TEN_MB = b"x" * 10_000_000


@pytest.fixture(autouse=True)
def _nothing_is_left(survivors, tmp_path):
    """Whatever the test is about: no process, no temporary file."""
    yield
    assert survivors() == []
    scratch = tmp_path / "state" / "tmp"
    assert not scratch.exists() or list(scratch.iterdir()) == []


def timed(act, *args):
    began = time.monotonic()
    return act(*args), time.monotonic() - began


def once_it_spoke(runner, job, program, **more):
    """Run it with a deadline that ends it soon after it has begun, however long a busy machine takes to begin it.

    All these programs go on for minutes by themselves.
    """
    for seconds in (0.4, 3, 15):
        raw, took = timed(runner.run, job(program, timeout=seconds, **more))
        assert raw.timed_out
        if raw.stdout:
            break
    return raw, took - seconds


def test_a_program_that_never_reads_a_ten_megabyte_event_is_ended_at_its_deadline(runner, job):
    raw, took = timed(runner.run, job("deaf", timeout=0.3, stdin=TEN_MB))
    assert raw.timed_out
    assert raw.signal == signal.SIGTERM
    assert took < SOON


def test_a_program_that_ends_before_it_reads_is_no_failure(runner, job):
    raw, took = timed(runner.run, job("deaf_but_done", stdin=TEN_MB))
    assert (raw.exit_code, raw.stdout, raw.error) == (0, "done\n", "")
    assert took < SOON


def test_a_ten_megabyte_event_arrives_whole(runner, job):
    raw = runner.run(job("wc", "-c", stdin=TEN_MB))
    assert raw.stdout.strip() == "10000000"


def test_a_program_that_echoes_ten_megabytes_does_not_block_on_its_own_output(runner, job):
    raw, took = timed(runner.run, job("cat", stdin=TEN_MB, output=20_000_000))
    assert raw.stdout == TEN_MB.decode()
    assert took < SOON


@pytest.mark.parametrize(("program", "stream"), [("flood", "stdout"), ("flood_stderr", "stderr")])
def test_a_flood_is_bounded_in_time_memory_and_disk(runner, job, program, stream):
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    for seconds in (0.4, 3, 15):
        raw, took = timed(runner.run, job(program, timeout=seconds, output=10_000))
        assert raw.timed_out
        assert took - seconds < SOON
        if raw.spilled:  # a busy machine may not have come to it before
            break
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert len(getattr(raw, stream)) == 10_000
    assert grown < 20_000  # kilobytes
    (spill,) = raw.spilled
    assert os.stat(spill).st_size <= (64 << 20) + (1 << 16)
    assert os.stat(spill).st_mode & 0o777 == 0o600
    assert any(stream in note and spill in note for note in raw.notes)


def test_a_grandchild_that_holds_the_pipe_is_not_waited_for(runner, job):
    raw, took = timed(runner.run, job("orphan", timeout=60))
    assert (raw.exit_code, raw.stdout, raw.timed_out) == (0, "answered\n", False)
    assert took < SOON


def test_a_grandchild_that_holds_no_pipe_is_ended_too(runner, job):
    raw, took = timed(runner.run, job("quiet_orphan", timeout=60))
    assert (raw.exit_code, raw.stdout) == (0, "answered\n")
    assert took < SOON


def test_a_grandchild_may_finish_its_sentence(runner, job, monkeypatch):
    monkeypatch.setattr("hookline.runners.process.DRAIN", 20.0)  # the moment that is granted, on a busy machine
    assert runner.run(job("last_words")).stdout == "early\nlate\n"


def test_a_program_that_ignores_sigterm_is_killed_after_the_grace(runner, job):
    raw, late = once_it_spoke(runner, job, "stubborn", grace=0.2)
    assert (raw.signal, raw.stdout) == (signal.SIGKILL, "I stay\n")
    assert 0.2 <= late < SOON


def test_a_program_may_clean_up_within_the_grace(runner, job):
    raw, _ = once_it_spoke(runner, job, "polite", grace=60.0)
    assert (raw.exit_code, raw.stdout) == (7, "working\ncleaned\n")


def test_a_program_that_multiplies_on_sigterm_is_ended_with_its_offspring(runner, job):
    raw, late = once_it_spoke(runner, job, "fork_on_term", grace=0.2)
    assert raw.stdout == "ready\n"
    assert late < SOON


def test_a_whole_family_is_ended(runner, job):
    raw, late = once_it_spoke(runner, job, "brood")
    assert raw.stdout == "born\n"
    assert late < SOON


def test_a_daemon_that_left_the_group_is_noted_and_not_hunted(runner, job, tmp_path):
    # Without the marker in its environment, because this one survives: until it finds the file.
    enough = tmp_path / "enough"
    try:
        raw, took = timed(runner.run, job("daemonise", environ=dict(os.environ) | {"DAEMON_UNTIL": str(enough)}))
    finally:
        enough.touch()
    assert (raw.exit_code, raw.stdout) == (0, "started\n")
    assert any("left the hook's group" in note for note in raw.notes)
    assert took < SOON


def test_half_a_json_document_is_passed_on_as_it_is(runner, job):
    raw = runner.run(job("half_json"))
    assert (raw.exit_code, raw.stdout, raw.error) == (0, '{"effect": "de', "")


def test_invalid_utf8_becomes_replacement_characters(runner, job):
    raw = runner.run(job("bad_utf8"))
    assert (raw.stdout, raw.stderr) == ("caf\ufffd \ufffd\ufffd ok", "\ufffd")


def test_a_death_by_signal_is_told_apart_from_an_exit(runner, job):
    raw = runner.run(job("by_signal"))
    assert (raw.exit_code, raw.signal, raw.error, raw.timed_out) == (None, signal.SIGUSR1, "", False)


def test_a_program_that_closed_its_streams_is_still_waited_for(runner, job):
    assert runner.run(job("closes_early")).exit_code == 3


def test_a_stop_from_another_thread_ends_the_program_at_once(runner, job):
    work = job("deaf", timeout=60)
    timer = threading.Timer(0.2, work.stop.set)
    timer.start()
    raw, took = timed(runner.run, work)
    timer.join()
    assert "stopped" in raw.error
    assert not raw.timed_out
    assert took < SOON


def test_nothing_is_started_after_a_stop(runner, job):
    work = job("deaf")
    work.stop.set()
    assert "stopped" in runner.run(work).error


def test_an_interrupt_from_the_keyboard_leaves_nothing_behind(runner, job):
    def interrupt(_number, _frame):
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGALRM, interrupt)
    work = job("brood", timeout=60)

    def interrupted():
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        runner.run(work)

    try:
        with pytest.raises(KeyboardInterrupt):
            interrupted()
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


@pytest.mark.parametrize("program", ["deaf", "orphan", "stubborn", "deaf_but_done", "brood"])
def test_the_laws_hold_without_process_descriptors(runner, job, monkeypatch, program):
    monkeypatch.delattr(os, "pidfd_open")
    _raw, took = timed(runner.run, job(program, timeout=0.3, grace=0.1, stdin=TEN_MB))
    assert took < SOON


def descriptors(folder):
    """What a runner opens: pipes, processes and its own files. Other tests' threads may open other things meanwhile."""
    ours = ("pipe:", "anon_inode:[pidfd]", "anon_inode:[eventpoll]", str(folder))
    return collections.Counter({name: count for name, count in open_files().items() if name.startswith(ours)})


def test_no_descriptor_is_leaked(runner, job, tmp_path):
    before = descriptors(tmp_path)
    for program in ("orphan", "deaf_but_done", "deaf", "/nowhere/at/all", "bad_interpreter"):
        work = job(program, timeout=0.2, stdin=b"x" * 100_000)
        runner.run(work)
        work.stop.close()
    assert eventually(lambda: not descriptors(tmp_path) - before), descriptors(tmp_path) - before


def test_ten_hooks_at_once_run_side_by_side(runner, job, tmp_path):
    """Each of them waits for all the others."""
    meeting = tmp_path / "meeting"
    meeting.mkdir()
    script = 'cd "$1"; : >$$; while [ $(ls | wc -l) -lt 10 ]; do sleep 0.05; done'
    jobs = [job("sh", "-c", script, "sh", str(meeting)) for _ in range(10)]
    codes = []
    threads = [threading.Thread(target=lambda each=each: codes.append(runner.run(each).exit_code)) for each in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert codes == [0] * 10


def test_the_spill_directory_does_not_grow_without_end(runner, job, tmp_path):
    spill = tmp_path / "state" / "spill"
    spill.mkdir(parents=True)
    for number in range(50):
        (spill / f"{number:020d}-0.stdout").write_text("old")
    raw = runner.run(job("seq", "10000", output=100))
    assert len(list(spill.iterdir())) <= 32
    assert Path(raw.spilled[0]).read_text().startswith("1\n2\n")
    assert Path(raw.spilled[0]).read_text().endswith("10000\n")
