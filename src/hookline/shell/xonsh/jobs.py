"""job.background and job.foreground: ``&``, ``bg``, ``fg`` and Ctrl+Z; and the end of background jobs."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.xonsh.patch_points import Patches, is_interactive, private, xonsh_module
from hookline.shell.xonsh.pipelines import PipelineHooks, PipelineRun


class JobHooks:
    """A thread waits for each background job, to fire the events of its end."""

    def __init__(self, dispatcher: ShellDispatcher, pipelines: PipelineHooks) -> None:
        self._dispatcher = dispatcher
        self._pipelines = pipelines

    def install(self, patches: Patches) -> None:
        patches.apply("add_job", self._around_add)
        patches.apply("resume_job", self._around_resume_job)
        patches.apply("resume", self._around_resume)
        patches.apply("stopped", self._around_stopped)
        patches.apply("stopped_thread", lambda _original: xonsh_module("procs.jobs").proc_untraced_waitpid)

    def _around_add(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def add_job(info: dict[str, Any]) -> Any:
            pipeline = info["pipeline"]
            # ``!(cmd)`` is an object that its owner ends.
            if not info.get("bg") or pipeline.spec.captured == "object":
                return original(info)
            run = self._pipelines.current()
            number = xonsh_module("procs.jobs").get_next_job_number()
            if self._may_background(number, {**info, "hookline": run}, "&"):
                done = original(info)
                self._watch(pipeline, run)
                return done
            info["bg"] = False
            pipeline.spec.background = False
            if run is not None:
                run.background = False
            if is_interactive():
                xonsh_module("procs.jobs").give_terminal_to(info["pgrp"])
            return original(info)

        return add_job

    def _may_background(self, number: Any, job: dict[str, Any], cause: str) -> bool:
        data = {**_job(number, job), "cause": cause}
        answer = self._dispatcher.fire("job.background", data)
        if not answer.allowed:
            self._dispatcher.notify(answer.problem)
        return answer.allowed

    def _watch(self, pipeline: Any, run: PipelineRun | None) -> None:
        if run is not None:
            run.background = True
            self._pipelines.watch(pipeline, run)

    def _around_resume_job(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def resume_job(args: list[str], wording: str) -> Any:
            number, job = _selected_job(args)
            if job is None:
                return original(args, wording)
            event = "job.foreground" if wording == "fg" else "job.background"
            data = _job(number, job) if wording == "fg" else {**_job(number, job), "cause": "bg"}
            answer = self._dispatcher.fire(event, data)
            if not answer.allowed:
                return "", f"{answer.problem}\n", 1
            run: PipelineRun | None = getattr(job["pipeline"], "hookline", None)
            if run is not None and wording == "fg":
                run.background = False
            elif run is not None and not run.end_fired and not run.background:
                # Before the call: ``bg`` ends the pipeline object at once.
                self._watch(job["pipeline"], run)
            return original(args, wording)

        return resume_job

    def _around_resume(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def resume(pipeline: Any, *args: Any, **kwargs: Any) -> Any:
            for proc in pipeline.procs:
                if getattr(proc, "suspended", False):
                    proc.suspended = False  # xonsh does not reset it, and would take the next end for a stop
            return original(pipeline, *args, **kwargs)

        return resume

    def _around_stopped(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def waitpid(proc: Any, hang: bool, task: Any = None, raise_child_process_error: bool = False) -> Any:
            while True:
                info = self._waited(original, proc, hang, task, raise_child_process_error)
                if not info["backgrounded"]:
                    return info
                number, job = _find_job(proc.pid)
                if self._may_background(number, job or {"pids": [proc.pid]}, "ctrl+z"):
                    return info
                proc.suspended, info["backgrounded"] = False, False
                _continue(proc, task)
                if not hang:
                    return info

        return waitpid

    def _waited(self, original: Callable[..., Any], proc: Any, hang: bool, task: Any, strict: bool) -> Any:
        def wait() -> Any:
            return original(proc, hang, task=task, raise_child_process_error=strict)

        return self._dispatcher.rest(wait) if hang else wait()


def _job(number: Any, job: dict[str, Any]) -> dict[str, Any]:
    run: PipelineRun | None = job.get("hookline") or getattr(job.get("pipeline"), "hookline", None)
    words = [" ".join(each) if isinstance(each, list) else str(each) for each in job.get("cmds", ())]
    pids = [pid for pid in job.get("pids", ()) if pid is not None]
    return {"job_id": number, "pids": pids, "text": run.text if run is not None else " ".join(words)}


def _selected_job(args: list[str]) -> tuple[Any, dict[str, Any] | None]:
    """The job that ``fg`` and ``bg`` would use; None if they report an error."""
    jobs = xonsh_module("procs.jobs")
    tasks, known = jobs.get_tasks(), jobs.get_jobs()
    try:
        place = {"+": 0, "-": 1}.get(args[0]) if args else 0
        number = int(args[0]) if place is None else tasks[place]
    except (ValueError, IndexError):
        return None, None
    return number, known.get(number)


def _find_job(pid: int) -> tuple[Any, dict[str, Any] | None]:
    for number, job in xonsh_module("procs.jobs").get_jobs().items():
        if pid in job.get("pids", ()):
            return number, job
    return None, None


def _continue(proc: Any, task: Any) -> None:
    with suppress(OSError):
        if task is not None:
            private(xonsh_module("procs.jobs"), "_continue")(task)
        else:
            os.kill(proc.pid, signal.SIGCONT)
