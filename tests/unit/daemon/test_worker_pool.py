"""The worker of a project: what hangs in it is ended, and who comes next has a new one."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from typing import TYPE_CHECKING

import pytest

from hookline.core.event import Event, event_kind
from hookline.core.hook import Function, HookSpec, Origin
from hookline.core.settings import Settings
from hookline.daemon import worker_pool
from hookline.dialects.base import Call
from hookline.runners.base import Job, Stop

if TYPE_CHECKING:
    from pathlib import Path

CODE = """\
import os, time
def judge(event):
    if event.data["what"] == "hang":
        time.sleep(300)
    return {"effect": "deny", "reason": str(os.getpid())}
"""


def job(base: Path, what: str, *, seconds: float) -> Job:
    event = Event(kind=event_kind("PreToolUse"), data={"what": what})
    action = Function(target="h:judge", base=str(base))
    spec = HookSpec(
        id="h", name="h", dialect="native", event="PreToolUse", action=action, timeout=seconds,
        origin=Origin(file="", layer="project"),
    )  # fmt: skip
    return Job(spec=spec, event=event, call=Call(), settings=Settings(), stop=Stop())


def test_a_worker_that_is_being_ended_is_asked_nothing_more(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The system takes a while to end a process."""
    (tmp_path / "h.py").write_text(CODE)
    ends: list[threading.Timer] = []

    def end_slowly(process: subprocess.Popen[bytes]) -> None:
        os.kill(process.pid, signal.SIGSTOP)
        ends.append(threading.Timer(0.5, process.kill))
        ends[-1].start()

    worker = worker_pool.ProjectWorker()
    monkeypatch.setattr(worker_pool, "_end", end_slowly)
    first = worker.run(job(tmp_path, "hang", seconds=0.1))
    monkeypatch.undo()
    second = worker.run(job(tmp_path, "go", seconds=60))
    for end in ends:
        end.join()
    third = worker.run(job(tmp_path, "go", seconds=60))
    worker.close()

    assert (first.timed_out, second.error, third.error) == (True, "", "")
    assert second.value == third.value


@pytest.mark.slow
def test_a_worker_that_hangs_does_not_outlive_whoever_would_end_it(tmp_path: Path) -> None:
    """A daemon that was killed cannot end it, and it does not see that its input has ended."""
    (tmp_path / "h.py").write_text("import re\ndef judge(event):\n    re.match(r'(a+)+$', 'a' * 40 + 'b')\n")
    code = "import sys\nfrom hookline.daemon import worker\nworker.ABANDONED = 0.2\nsys.exit(worker.main())\n"
    call = worker_pool.worker_request(1, job(tmp_path, "go", seconds=2))  # in which it must be loaded
    with subprocess.Popen([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as worker:
        assert worker.stdin is not None
        worker.stdin.write(call)
        worker.stdin.flush()
        assert worker.wait(60) == -signal.SIGALRM
