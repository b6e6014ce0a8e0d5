"""A worker that is killed, a second one, a full disk: every task ends once, and says everything once."""

from __future__ import annotations

import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
import warnings
from collections.abc import Callable
from itertools import count
from pathlib import Path

import pytest
from tests.unit.memory.loop_world import World

from hookline.memory.notes import note_vectors
from hookline.memory.queue import worker

#: ``HOOKLINE_KILLS=500`` for an evening.
KILLS = int(os.environ.get("HOOKLINE_KILLS", "20"))

#: Answers about the session that is asked about, in the shape of its own choice.
CLAUDE = """
text = sys.stdin.read()
session = text.partition("Session: ")[2].partition("\\n")[0]
answer = {kind: [{"summary": f"{kind} of {session}"}] for kind in ("decisions", "failures")}
answer["learnings"] = [{"title": f"learning of {session}", "learning": "x"}]
answer["handoff"] = [f"open in {session}"]
print("Here you are:\\n```json\\n" + json.dumps(answer) + "\\n```")
"""


def answering(text: str) -> str:
    session = text.partition("Session: ")[2].partition("\n")[0]
    kinds = ("decisions", "failures")
    said = {kind: [{"summary": f"{kind} of {session}"}] for kind in kinds}
    return json.dumps(
        {**said, "learnings": [{"title": f"learning of {session}", "learning": "x"}], "handoff": [session]}
    )


def assert_everything_once(world: World, sessions: list[str], names: list[str]) -> None:
    assert world.done() == sorted(names)
    # What somebody had begun to write when it was killed is swept away an hour later.
    assert [file for file in (world.state / "queue/claimed").iterdir() if not file.name.startswith(".new-")] == []
    assert world.queue().pending() == []
    for kind in ("decisions", "failures"):
        assert sorted(world.summaries(f"{kind}.jsonl")) == sorted(f"{kind} of {session}" for session in sessions)
    assert sorted(file.stem[11:] for file in world.learnings()) == sorted(f"learning-of-{one}" for one in sessions)
    assert world.handoff()


def queued(folder: Path, count: int) -> tuple[World, list[str], list[str]]:
    world = World(folder)
    sessions = [f"s{number}" for number in range(count)]
    for session in sessions:
        world.transcript(session)
    return world, sessions, [world.put(session) for session in sessions]


def in_a_child(work: Callable[[], object]) -> int:
    """What the system says of its end."""
    return os.waitpid(forked(work), 0)[1]


def forked(work: Callable[[], object]) -> int:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # newer Pythons warn where there are threads: not of ours
        pid = os.fork()
    if pid == 0:
        try:
            work()
            os._exit(0)
        except BaseException:  # nothing of the child may reach pytest
            os._exit(1)
    return pid


def killed_at(step: int, work: Callable[[], object]) -> Callable[[], object]:
    """The work, ended by SIGKILL just before its n-th dealing with a file."""
    events = {"open", "os.rename", "os.link", "os.remove", "os.utime", "os.mkdir"}

    def doomed() -> None:
        left = [step]

        def count(event: str, _args: object) -> None:
            if event in events:
                left[0] -= 1
                if left[0] == 0:
                    os.kill(os.getpid(), signal.SIGKILL)

        sys.addaudithook(count)
        work()

    return doomed


@pytest.mark.timeout(300)
@pytest.mark.parametrize("first", range(1, 5))
def test_killed_before_any_step_whatever_nothing_is_lost_and_nothing_said_twice(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: int
) -> None:
    # The search can be made anew from the notes, and loading its weights is half a hundred steps of their own.
    monkeypatch.setattr(note_vectors, "load_model", lambda: None)
    for step in count(first, 4):
        world, sessions, names = queued(tmp_path / str(step), 1)

        def work(world: World = world) -> object:
            return worker.run(world.environ, cwd=str(world.bin), model=answering)

        status = in_a_child(killed_at(step, work))
        if status == 0:
            break
        assert os.WTERMSIG(status) == signal.SIGKILL
        if step % 7 == 0:  # and once more, while it is being put right
            in_a_child(killed_at(step // 2 + 1, work))
        work()
        assert_everything_once(world, sessions, names)
    assert step > 60


def started(world: World, **more: str) -> subprocess.Popen[bytes]:
    environ = {
        **world.environ, "HOOKLINE_STATE_DIR": str(world.state), "HOOKLINE_DATA_DIR": str(world.data),
        "HOOKLINE_CONFIG_DIR": str(world.home / ".config/hookline"), **more,
    }  # fmt: skip
    return subprocess.Popen([sys.executable, "-E", "-P", "-m", "hookline.memory.queue.worker"], env=environ, cwd="/")


@pytest.mark.timeout(300)
def test_killed_at_any_moment_a_real_worker_with_a_real_program_loses_nothing(tmp_path: Path) -> None:
    world, sessions, names = queued(tmp_path, 6)
    world.claude(CLAUDE)
    chance = random.Random(6)
    for _ in range(KILLS):
        process = started(world)
        try:
            process.wait(chance.uniform(0.05, 0.6))
        except subprocess.TimeoutExpired:
            process.kill()
        process.wait()
        if len(world.done()) == len(names):
            session = f"s{len(sessions)}"
            world.transcript(session)
            sessions.append(session)
            names.append(world.put(session))
    assert started(world).wait() == 0
    assert_everything_once(world, sessions, names)


def test_two_workers_share_the_work(tmp_path: Path) -> None:
    world, sessions, names = queued(tmp_path, 4)
    world.claude(CLAUDE)
    both = [started(world), started(world)]
    assert [process.wait() for process in both] == [0, 0]
    assert_everything_once(world, sessions, names)


def test_two_machines_that_share_the_directory_without_a_common_lock_do_everything_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    world, sessions, names = queued(tmp_path, 8)

    def on(host: str) -> Callable[[], object]:
        def work() -> object:
            # Locks that the other machine does not see: only claims keep the two apart.
            monkeypatch.setattr("hookline.memory.queue.launch._acquire", lambda _handle: True)
            monkeypatch.setattr("hookline.memory.queue.queue.this_host", lambda: host)
            return worker.run(world.environ, cwd=str(world.bin), model=answering)

        return work

    pids = [forked(on(host)) for host in ("one", "two")]
    assert [os.waitpid(pid, 0)[1] for pid in pids] == [0, 0]
    assert_everything_once(world, sessions, names)


def test_a_disk_that_is_full_keeps_every_task_and_half_of_nothing(tmp_path: Path) -> None:
    world, sessions, names = queued(tmp_path, 2)

    def on_a_full_disk() -> None:
        _soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, hard))
        worker.run(world.environ, cwd=str(world.bin), model=_never)

    assert in_a_child(on_a_full_disk) == 0
    assert world.done() == []
    assert list(world.data.rglob("*.md")) == []
    for name in ("decisions.jsonl", "failures.jsonl"):
        assert world.lines(name) == []
    later = time.time() + 3600
    worker.run(world.environ, cwd=str(world.bin), model=answering, clock=lambda: later)
    assert_everything_once(world, sessions, names)


def _never(_text: str) -> str:
    """Nobody is asked whose answer could not be written down."""
    os._exit(7)


def test_a_worker_in_the_background_tries_again_soon(tmp_path: Path) -> None:
    world, sessions, names = queued(tmp_path, 1)
    mark = tmp_path / "asked"
    world.claude(
        f"first = not os.path.exists({str(mark)!r})\nopen({str(mark)!r}, 'w').close()\nif first: sys.exit(1)\n{CLAUDE}"
    )
    fails_first = "import hookline.memory.queue.worker as w, sys; w.FIRST_WAIT = 0.2; sys.exit(w.main())"
    environ = {**world.environ, "HOOKLINE_STATE_DIR": str(world.state), "HOOKLINE_DATA_DIR": str(world.data)}
    subprocess.run([sys.executable, "-c", fails_first], env=environ, check=True, timeout=100)
    assert_everything_once(world, sessions, names)
    assert "claude ended with 1" in world.log()
