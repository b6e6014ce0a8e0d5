"""Python functions in the daemon: your own run here, those of a project in its worker process, so that a hang or
a crash stays there.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import threading
import time
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from itertools import count
from math import inf
from queue import Empty, SimpleQueue
from threading import get_ident
from time import monotonic
from typing import Any

from hookline.core.event import Event
from hookline.core.hook import Function, HookSpec
from hookline.core.isolation import module_command
from hookline.core.result import Context, Reply, RunResult
from hookline.runners.base import Job
from hookline.runners.function import Calls, FunctionRunner

#: Seconds that the worker's own watchdog gets before the process is ended.
_PATIENCE = 0.5
#: Seconds a worker may take to start.
_STARTING = 10.0


class ProjectWorker:
    """Started on first use, killed when something hangs in it, started again for the next call."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers = count(1)
        self._process: subprocess.Popen[bytes] | None = None
        self._waiting: dict[int, SimpleQueue[dict[str, Any]]] = {}
        #: Killed, though the system may not have ended them yet: they get no more calls.
        self._doomed: set[subprocess.Popen[bytes]] = set()
        #: Hooks whose approved files the process has been given.
        self._informed: set[str] = set()

    def run(self, job: Job) -> RunResult:
        began = time.perf_counter()
        number, answers = next(self._numbers), SimpleQueue[dict[str, Any]]()
        try:
            process = self._send(number, answers, job)
        except (OSError, ValueError, TypeError) as error:
            return RunResult(error=f"the project's worker cannot be asked: {error}")
        limit = None if job.timeout is None else job.timeout + _PATIENCE
        try:
            answer = answers.get(timeout=limit)
        except Empty:
            self._waiting.pop(number, None)
            self._doomed.add(process)  # without the lock: its holder may be waiting for this very process
            _end(process)
            return RunResult(timed_out=True, ms=_since(began), notes=("the project's worker was ended",))
        return _raw(answer, _since(began))

    def start(self, job: Job) -> RunResult:
        threading.Thread(target=self.run, args=(job,), name=f"hookline-{job.spec.name}", daemon=True).start()
        return RunResult()

    def close(self) -> None:
        with self._lock:
            process, self._process = self._process, None
        if process is not None:
            _end(process)

    def _send(self, number: int, answers: SimpleQueue[dict[str, Any]], job: Job) -> subprocess.Popen[bytes]:
        with self._lock:
            process = self._process
            if process is None or process in self._doomed or process.poll() is not None:
                self._fail_waiting("the project's worker was ended: another function in it hung")
                process = self._process = self._start_worker()
                self._informed.clear()
            body = worker_request(number, job, informed=job.spec.id in self._informed)
            self._informed.add(job.spec.id)
            self._waiting[number] = answers
            assert process.stdin is not None
            process.stdin.write(body)
            process.stdin.flush()
            return process

    def _start_worker(self) -> subprocess.Popen[bytes]:
        line = module_command("hookline.daemon.worker")
        process = subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True)
        ready = threading.Event()
        threading.Thread(target=self._listen, args=(process, ready), name="hookline-worker", daemon=True).start()
        ready.wait(_STARTING)  # starting does not count as a hook's time
        return process

    def _listen(self, process: subprocess.Popen[bytes], ready: threading.Event) -> None:
        assert process.stdout is not None
        with process.stdout:
            process.stdout.readline()
            ready.set()
            for line in process.stdout:
                try:
                    answer = json.loads(line)
                    waiting = self._waiting.pop(int(answer["number"]), None)
                except (ValueError, KeyError, TypeError):
                    continue  # a function printed something: not for us
                if waiting is not None:
                    waiting.put(answer)
        code = process.wait()
        with contextlib.suppress(OSError):
            assert process.stdin is not None
            process.stdin.close()
        self._doomed.discard(process)
        how = f"a signal ({-code})" if code < 0 else f"exit code {code}"
        with self._lock:
            if self._process is process or self._process is None:
                self._fail_waiting(f"the project's worker ended with {how}")

    def _fail_waiting(self, error: str) -> None:
        """Answer those who would wait for ever; under the lock."""
        left, self._waiting = self._waiting, {}
        for waiting in left.values():
            waiting.put({"error": error})


def worker_request(number: int, job: Job, *, informed: bool = False) -> bytes:
    """``informed``: the worker knows the files that the hook was approved with."""
    action, event = job.spec.action, job.event
    assert isinstance(action, Function)
    tree = {
        "number": number, "target": action.target, "base": action.base, "given": action.given, "timeout": job.timeout,
        "name": job.spec.name, "hook": job.spec.id, "approved": None if informed or job.approved is None else job.approved.as_tree(),
        "event": {
            "kind": event.kind.name, "data": event.data, "id": event.id, "session": event.session, "turn": event.turn,
            "agent": event.agent, "role": event.role, "mode": event.mode, "generation": event.generation,
            "cwd": event.cwd, "environ": event.environ, "time": event.time, "native": event.native,
            "native_name": event.native_name,
        },
    }  # fmt: skip
    return json.dumps(tree, default=dict).encode() + b"\n"


def _raw(answer: dict[str, Any], ms: float) -> RunResult:
    value = answer.get("value")
    if isinstance(value, dict) and answer.get("reply"):
        contexts = tuple(Context(**one) for one in value.pop("context", ()))
        value = Reply(context=contexts, messages=tuple(value.pop("messages", ())), **value)
    return RunResult(
        value=value,
        error=str(answer.get("error") or ""),
        stderr=str(answer.get("stderr") or ""),
        timed_out=bool(answer.get("timed_out")),
        ms=ms,
    )


def _end(process: subprocess.Popen[bytes]) -> None:
    try:
        os.killpg(process.pid, 9)
    except OSError:
        process.kill()


def _since(began: float) -> float:
    return (time.perf_counter() - began) * 1000


#: Identifies a function.
_FunctionKey = tuple[str, str]


class Deadlines:
    """Threads that run a function past its deadline; one table for the whole daemon."""

    __slots__ = ("hanging", "running")

    def __init__(self) -> None:
        #: Thread -> when its function should have ended, and whose function it is. Each thread keeps its own entry.
        self.running: dict[int, tuple[float, HookSpec]] = {}
        self.hanging: set[_FunctionKey] = set()

    def overdue(self, thread: int) -> bool:
        """Whether to give this thread up; True once."""
        until, spec = self.running.get(thread, (inf, None))
        if spec is None or until + _PATIENCE > monotonic():
            return False
        self.hanging.add(_function_key(spec))
        self.running.pop(thread, None)
        return True


class ResidentFunctions:
    """Satisfies ``Runner`` for functions. Those of ``in_worker``, by the ids of their hooks, run in a worker."""

    def __init__(self, deadlines: Deadlines, *, in_worker: AbstractSet[str]) -> None:
        self._own = FunctionRunner()
        self._deadlines = deadlines
        self._in_worker = in_worker
        self._worker = ProjectWorker()

    def run(self, job: Job) -> RunResult:
        if job.spec.id in self._in_worker:
            return self._worker.run(job)
        seconds, thread = job.timeout or inf, get_ident()
        if _function_key(job.spec) in self._deadlines.hanging:
            return self._run_in_thread(job, seconds)
        self._deadlines.running[thread] = (monotonic() + seconds, job.spec)
        try:
            return self._own.run(job)
        finally:
            self._deadlines.running.pop(thread, None)

    def call_in_turn(self, specs: Sequence[HookSpec], event: Event) -> Calls:
        """None of them where one must not run in this thread."""
        if self._deadlines.hanging or not self._in_worker.isdisjoint([spec.id for spec in specs]):
            return Calls()
        try:
            return self._own.call_in_turn(specs, event, self._deadlines.running)
        finally:
            self._deadlines.running.pop(get_ident(), None)

    def _run_in_thread(self, job: Job, seconds: float) -> RunResult:
        """In a thread that is abandoned at the deadline."""
        results: SimpleQueue[RunResult] = SimpleQueue()
        threading.Thread(target=lambda: results.put(self._own.run(job)), name="hookline-function", daemon=True).start()
        try:
            return results.get(timeout=seconds + _PATIENCE)
        except Empty:
            return RunResult(timed_out=True, ms=seconds * 1000, notes=("its thread could not be ended",))

    def start(self, job: Job) -> RunResult:
        return self._worker.start(job) if job.spec.id in self._in_worker else self._own.start(job)

    def close(self) -> None:
        self._worker.close()
        self._own.close()


def _function_key(spec: HookSpec) -> _FunctionKey:
    action = spec.action
    assert isinstance(action, Function)
    return action.target, action.base
