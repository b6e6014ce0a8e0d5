"""One writer at a time, also where machines do not see each other's locks."""

from __future__ import annotations

import fcntl
import json
import multiprocessing
import os
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import ANSWER, World

from hookline.core.errors import StateError
from hookline.core.files import replace_atomically
from hookline.memory import dir_lock
from hookline.memory.dir_lock import HOLDER_FILE, lock_directory
from hookline.memory.queue.queue import this_host


def no_lock(*_args: object) -> None:
    """What a file system does that keeps the locks of each machine to itself."""


def write_entries(path: str, who: int, count: int) -> None:
    fcntl.flock = no_lock  # in this process only
    for number in range(count):
        with lock_directory(os.path.dirname(path)):
            before = Path(path).read_text() if os.path.exists(path) else ""
            replace_atomically(path, before + json.dumps({"summary": f"{who} {number}"}) + "\n")


def test_machines_that_see_nothing_of_each_others_locks_lose_no_entry(tmp_path: Path) -> None:
    path = str(tmp_path / "decisions.jsonl")
    context = multiprocessing.get_context("spawn")
    machines = [context.Process(target=write_entries, args=(path, who, 40)) for who in range(3)]
    for machine in machines:
        machine.start()
    for machine in machines:
        machine.join()
    found = [json.loads(line)["summary"] for line in Path(path).read_text().splitlines()]
    assert sorted(found) == sorted(f"{who} {number}" for who in range(3) for number in range(40))
    assert not (tmp_path / HOLDER_FILE).exists()


def test_what_a_killed_process_of_this_machine_left_holds_up_nobody(tmp_path: Path) -> None:
    pid = os.posix_spawn("/bin/true", ["true"], {})
    os.waitpid(pid, 0)
    (tmp_path / HOLDER_FILE).write_text(f"{this_host()} {pid} 00\n")
    with lock_directory(str(tmp_path)):
        assert f" {os.getpid()} " in (tmp_path / HOLDER_FILE).read_text()
    assert not (tmp_path / HOLDER_FILE).exists()


def test_what_another_machine_left_is_waited_for_and_then_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(dir_lock, "_STALE_AFTER", 0.05)
    (tmp_path / HOLDER_FILE).write_text("elsewhere 1 00\n")
    with lock_directory(str(tmp_path)):
        assert "elsewhere" not in (tmp_path / HOLDER_FILE).read_text()
    assert sorted(one.name for one in tmp_path.iterdir()) == [".lock"]


def test_another_machine_that_is_at_it_is_not_disturbed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(dir_lock, "_TIMEOUT", 0.05)
    (tmp_path / HOLDER_FILE).write_text("elsewhere 1 00\n")
    with pytest.raises(StateError, match=r"another machine holds it \(elsewhere 1\)"), lock_directory(str(tmp_path)):
        pytest.fail("two at once")
    assert (tmp_path / HOLDER_FILE).read_text() == "elsewhere 1 00\n"


def test_a_machine_that_holds_it_too_long_is_no_fault_of_a_task(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world = World(tmp_path)
    world.transcript("s1")
    world.put("s1")
    world.work(ANSWER)
    monkeypatch.setattr(dir_lock, "_TIMEOUT", 0.05)
    (world.memory / HOLDER_FILE).write_text("elsewhere 1 00\n")
    world.transcript("s2")
    world.put("s2")
    report, _asked = world.work({"decisions": [{"summary": "another"}]})
    (waiting,) = world.queue().pending()
    assert (report.counts, waiting.task.tries) == ({"later": 1}, 0)


def test_who_was_thought_gone_takes_nothing_away(tmp_path: Path) -> None:
    with lock_directory(str(tmp_path)):
        (tmp_path / HOLDER_FILE).write_text("elsewhere 1 00\n")
    assert (tmp_path / HOLDER_FILE).read_text() == "elsewhere 1 00\n"


def test_on_a_full_disk_there_is_no_lock_that_says_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_args: object) -> int:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(os, "write", full)
        with pytest.raises(StateError, match="make room"), lock_directory(str(tmp_path)):
            pytest.fail("without a lock")
    assert not (tmp_path / HOLDER_FILE).exists()
