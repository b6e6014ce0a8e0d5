"""pipeline.* and file.redirect: a whole pipeline before it runs, and its result."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from hookline.core._dataclass import dataclass, field, replace
from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher
from hookline.shell.xonsh.commands import UnexpandedGlobs, command_data, pipeline_text, rebuild, split_pipeline
from hookline.shell.xonsh.patch_points import REFUSED, Patches, refusal, xonsh_module, xsh

#: Seconds between SIGTERM and SIGKILL for the members of a denied pipeline.
_GRACE = 0.2
#: Seconds that the end of a member waits until all are started.
_STARTED = 5.0


@dataclass(slots=True, kw_only=True)
class PipelineRun:
    """One pipeline, from ``pipeline.pre_execute`` to its last exit code."""

    id: str
    text: str
    background: bool
    began: float
    #: Words -> the pattern that was typed for them.
    globs: Mapping[tuple[str, ...], str] = field(default_factory=dict[tuple[str, ...], str])
    refused: ShellAnswer | None = None
    #: Fires the event of the last started member: later, since xonsh gives it the terminal only after its start.
    pending: Callable[[], object] | None = None
    #: Its processes are being started.
    started: bool = False
    #: Members whose end was fired, and the exit codes that hooks gave them.
    exited: dict[int, int | None] = field(default_factory=dict[int, "int | None"])
    #: Their ends are fired by the shell and by threads that wait for them.
    lock: Any = field(default_factory=threading.RLock)
    #: The start of every member was fired.
    all_started: threading.Event = field(default_factory=threading.Event)
    end_fired: bool = False
    #: An error was shown; what xonsh raises afterwards is a consequence.
    error_shown: bool = False

    def fire_pending(self) -> None:
        event, self.pending = self.pending, None
        if event is not None:
            event()


class _DeniedProcess:
    """Replaces a process that a hook did not allow to start."""

    pid = None
    stdin = stdout = stderr = None
    suspended = False
    prevs_are_closed = True
    signal = None
    returncode = REFUSED

    def poll(self) -> int:
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:  # the signature of Popen.wait
        return self.returncode


class PipelineHooks:
    """Knows the pipeline that each thread is starting."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher
        self._local = threading.local()
        self._globs = UnexpandedGlobs()

    def install(self, patches: Patches) -> None:
        xonsh_module("events").events.on_post_init(lambda **_: self._globs.install())
        patches.apply("run_subproc", self._around_run)
        patches.apply("redirect", self._around_redirect)
        patches.apply("pipeline", self._around_start)
        patches.apply("exit", self._around_exit)
        patches.apply("end", self._around_end)

    def current(self) -> PipelineRun | None:
        stack = self._stack()
        return stack[-1] if stack else None

    def _stack(self) -> list[PipelineRun]:
        stack: list[PipelineRun] | None = getattr(self._local, "stack", None)
        if stack is None:
            stack = self._local.stack = []
        return stack

    def _around_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run_subproc(cmds: list[Any], *args: Any, **kwargs: Any) -> Any:
            own, background = split_pipeline(cmds)
            commands = [command_data(cmd) for cmd in own]
            globs = self._globs.take()
            shown = pipeline_text(commands, background=background, globs=globs)
            number, now = self._dispatcher.number(), time.time()
            run = PipelineRun(id=f"p{number}", text=shown, background=background, began=now, globs=globs)
            data = {"pipeline_id": run.id, "text": shown, "commands": commands, "background": background}
            answer = self._dispatcher.fire("pipeline.pre_execute", data)
            if not answer.allowed:
                raise refusal(answer)
            if answer.changed:
                cmds, kwargs = self._changed(run, cmds, commands, answer, kwargs)
            return self._started(run, lambda: original(cmds, *args, **kwargs))

        return run_subproc

    def _changed(
        self,
        run: PipelineRun,
        cmds: list[Any],
        commands: list[dict[str, Any]],
        answer: ShellAnswer,
        kwargs: dict[str, Any],
    ) -> tuple[list[Any], dict[str, Any]]:
        run.background = bool(answer.data.get("background"))
        after = answer.data.get("commands")
        changed = rebuild(cmds, commands, after, background=run.background)
        if changed is None:
            why = "a hook asked for an impossible change: the changed pipeline is not valid"
            raise refusal(replace(answer, allowed=False, reason=why, owner="hookline"))
        if len(changed) != len(cmds):
            kwargs = {**kwargs, "envs": None}  # they are positional, and the positions changed
        run.text = pipeline_text([command_data(cmd) for cmd in split_pipeline(changed)[0]], background=run.background)
        return changed, kwargs

    def _started(self, run: PipelineRun, start: Callable[[], Any]) -> Any:
        stack = self._stack()
        stack.append(run)
        try:
            return start()
        except BaseException as error:
            if not run.started:
                self._fire_end(run, getattr(error, "code", 1) if isinstance(error, Exception) else 130, [])
            raise
        finally:
            stack.remove(run)

    def _around_redirect(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def redirect(r: str, loc: Any = None) -> Any:
            if loc is None or ">" not in r or isinstance(loc, list):
                return original(r, loc)
            run = self.current()
            path = os.path.abspath(os.path.expanduser(str(loc)))
            fd = 2 if r.startswith(("2", "e")) else 1
            data = {"path": path, "append": ">>" in r, "fd": fd, "pipeline_id": run.id if run else ""}
            answer = self._dispatcher.fire("file.redirect", data)
            if not answer.allowed:
                raise refusal(answer, code=1)
            if "path" in answer.changed:
                loc = str(answer.data["path"])
            if "append" in answer.changed:
                r = r.replace(">>", ">").replace(">", ">>" if answer.data["append"] else ">")
            return original(r, loc)

        return redirect

    def _around_start(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run_command_pipeline(specs: list[Any], cmds: list[Any]) -> Any:
            run = self.current()
            if run is not None:
                run.started = True
            try:
                pipeline = original(specs, cmds)
            finally:
                if run is not None:
                    run.fire_pending()
                    run.all_started.set()
            if run is not None:
                pipeline.hookline = run
                self._after_start(pipeline, specs, run)
            return pipeline

        return run_command_pipeline

    def _after_start(self, pipeline: Any, specs: list[Any], run: PipelineRun) -> None:
        if run.refused is not None:
            self._terminate(pipeline, run)
        elif run.background and pipeline.proc is None:
            self._close(pipeline, run)
        elif run.background and all(spec.is_proxy for spec in specs):
            self.watch(pipeline, run)  # functions are no job
        elif pipeline.spec.captured == "object" and self._dispatcher.has_hooks("pipeline.post_execute"):
            self.watch(pipeline, run)  # its owner may never read it

    def _terminate(self, pipeline: Any, run: PipelineRun) -> None:
        """A member was denied: end the others, and count the whole pipeline as denied."""
        members = [proc for proc in pipeline.procs if getattr(proc, "pid", None) and hasattr(proc, "terminate")]
        for proc in members:
            with suppress(OSError):
                proc.terminate()
        until = time.monotonic() + _GRACE
        for proc in members:
            while proc.poll() is None and time.monotonic() < until:
                time.sleep(0.005)
            with suppress(OSError):
                if proc.poll() is None:
                    proc.kill()
        self.fire_exits(pipeline, run)
        pipeline.proc = _DeniedProcess()
        pipeline.procs.append(pipeline.proc)
        pipeline.ended = True
        run.error_shown = True
        if (history := xsh().history) is not None:
            history.last_cmd_rtn = REFUSED
        self.fire_end(pipeline, run)

    def _around_exit(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def apply_to_history(pipeline: Any) -> Any:
            run: PipelineRun | None = getattr(pipeline, "hookline", None)
            if run is not None and not run.background and _has_ended(pipeline):
                self.fire_exits(pipeline, run)
            return original(pipeline)

        return apply_to_history

    def _around_end(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def end(pipeline: Any, tee_output: bool) -> Any:
            try:
                return original(pipeline, tee_output)
            finally:
                run: PipelineRun | None = getattr(pipeline, "hookline", None)
                if run is not None and not run.background and pipeline.proc is None:
                    self._close(pipeline, run)
                elif run is not None and not run.background and _has_ended(pipeline):
                    self.fire_exits(pipeline, run)
                    self.fire_end(pipeline, run)

        return end

    def _close(self, pipeline: Any, run: PipelineRun) -> None:
        """The last member was never started; the others end by themselves, and xonsh does not wait for them."""
        self.watch(pipeline, run).join(_GRACE)

    def watch(self, pipeline: Any, run: PipelineRun) -> threading.Thread:
        """Fire the end of every member and of the pipeline when nobody waits for it."""

        def wait() -> None:
            codes = [_wait_exit(proc) for proc in pipeline.procs]
            self.fire_exits(pipeline, run, codes)
            self.fire_end(pipeline, run, codes)

        waiting = threading.Thread(target=wait, name=f"hookline waits for {run.id}", daemon=True)
        waiting.start()
        return waiting

    def watch_member(self, proc: Any, spec: Any, run: PipelineRun) -> None:
        """Fire the end of a member before the last one when it ends."""

        def watch() -> None:
            code = _wait_exit(proc)
            run.all_started.wait(_STARTED)
            self._fire_exit(proc, spec, run, code)

        threading.Thread(target=watch, daemon=True).start()

    def fire_exits(self, pipeline: Any, run: PipelineRun, codes: Sequence[int | None] | None = None) -> None:
        """process.pre_exit for every member, once. A hook can change the exit code."""
        found = [proc.returncode for proc in pipeline.procs] if codes is None else codes
        for proc, spec, code in zip(pipeline.procs, pipeline.specs, found, strict=False):
            self._fire_exit(proc, spec, run, code)

    def _fire_exit(self, proc: Any, spec: Any, run: PipelineRun, code: int | None) -> None:
        with run.lock:
            if id(proc) not in run.exited:
                run.exited[id(proc)] = self._exit_code(proc, spec, run, code)
            if (changed := run.exited[id(proc)]) is not None:
                proc.returncode = changed

    def _exit_code(self, proc: Any, spec: Any, run: PipelineRun, code: int | None) -> int | None:
        """What hooks changed it to."""
        began = getattr(proc, "hookline_began", run.began)
        name = getattr(proc, "hookline_name", "") or str((spec.args or [""])[0])
        data: dict[str, Any] = {
            "pid": getattr(proc, "hookline_pid", None), "command": name, "exit_code": code,
            "signal": _signal(code), "duration_ms": round((time.time() - began) * 1000),
        }  # fmt: skip
        answer = self._dispatcher.fire("process.pre_exit", data)
        changed = answer.data["exit_code"] if "exit_code" in answer.changed else None
        return changed if isinstance(changed, int) else None

    def fire_end(self, pipeline: Any, run: PipelineRun, codes: Sequence[int | None] | None = None) -> None:
        found = [proc.returncode for proc in pipeline.procs] if codes is None else codes
        pairs = zip(pipeline.procs, found, strict=False)
        statuses = [code if (changed := run.exited.get(id(proc))) is None else changed for proc, code in pairs]
        if pipeline.proc is None:
            statuses.append(1)  # the member that could not start
        self._fire_end(run, statuses[-1] if statuses else 0, statuses)

    def _fire_end(self, run: PipelineRun, code: int | None, statuses: list[int | None]) -> None:
        with run.lock:
            if run.end_fired:
                return
            run.end_fired = True
        took = round((time.time() - run.began) * 1000)
        self._dispatcher.fire(
            "pipeline.post_execute",
            {
                "pipeline_id": run.id, "text": run.text, "exit_code": code, "statuses": statuses, "duration_ms": took,
                "background": run.background,
            },
        )  # fmt: skip


def _has_ended(pipeline: Any) -> bool:
    """Ctrl+Z and ``bg`` end the pipeline object but not its processes."""
    return all(getattr(proc, "returncode", 0) is not None for proc in pipeline.procs)


def _wait_exit(proc: Any) -> int | None:
    """The exit code, without reaping the process: xonsh does that."""
    if getattr(proc, "pid", None) is None or not hasattr(proc, "args"):
        return proc.wait() if hasattr(proc, "wait") else None
    try:
        ended = os.waitid(os.P_PID, proc.pid, os.WEXITED | os.WNOWAIT)
    except OSError:  # xonsh has reaped it
        return getattr(proc, "returncode", None)
    if ended is None:
        return getattr(proc, "returncode", None)
    return ended.si_status if ended.si_code == os.CLD_EXITED else -ended.si_status


def _signal(code: int | None) -> str | None:
    if code is None or code >= 0:
        return None
    try:
        return signal.Signals(-code).name
    except ValueError:
        return str(-code)
