"""process.pre_spawn and process.post_spawn: one member of a pipeline, just before and after its start."""

from __future__ import annotations

import functools
import os
import shlex
import time
from collections.abc import Callable
from typing import Any

from hookline.core._dataclass import replace
from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher
from hookline.shell.engine_host import current_directory
from hookline.shell.xonsh.commands import command_text
from hookline.shell.xonsh.patch_points import Patches, refusal, xsh
from hookline.shell.xonsh.pipelines import PipelineHooks, PipelineRun
from hookline.shell.xonsh.variables import argument_text, to_json

#: Variables that xonsh passes to itself in the environment of a command.
_OWN = ("XONSH_", "__")


class ProcessHooks:
    """Patches the function that starts members of a pipeline, programs and functions alike."""

    def __init__(self, dispatcher: ShellDispatcher, pipelines: PipelineHooks) -> None:
        self._dispatcher = dispatcher
        self._pipelines = pipelines

    def install(self, patches: Patches) -> None:
        patches.apply("spawn", self._around_run)

    def _around_run(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run(spec: Any, *, pipeline_group: Any = None) -> Any:
            _without_our_frame(spec)
            running = self._pipelines.current()
            if running is not None:
                running.fire_pending()
            data = _before(spec, running)
            answer = self._dispatcher.fire("process.pre_spawn", data)
            if answer.allowed and answer.changed:
                answer = _apply_changes(spec, data, answer)
            if not answer.allowed:
                if running is not None:
                    running.refused = answer
                raise refusal(answer)
            proc = original(spec, pipeline_group=pipeline_group)
            self._after(proc, spec, running)
            return proc

        return run

    def _after(self, proc: Any, spec: Any, running: PipelineRun | None) -> None:
        builtin = callable(spec.alias)
        pid = None if builtin else proc.pid
        name, args = _words(spec)
        proc.hookline_began, proc.hookline_pid, proc.hookline_name = time.time(), pid, name
        data: dict[str, Any] = {
            "pid": pid, "command": name, "args": args, "pgid": _group(pid),
            "pipeline_id": running.id if running else "",
        }  # fmt: skip
        if builtin:
            data["builtin"] = True
        if running is None:
            self._dispatcher.fire("process.post_spawn", data)
        else:  # a slow hook here would delay the terminal, and a program that draws without it is stopped
            running.pending = lambda: self._dispatcher.fire("process.post_spawn", data)
            if (
                not builtin
                and not getattr(spec, "last_in_pipeline", True)
                and self._dispatcher.has_hooks("process.pre_exit")
            ):
                self._pipelines.watch_member(proc, spec, running)


def _before(spec: Any, running: PipelineRun | None) -> dict[str, Any]:
    name, args = _words(spec)
    # Only what differs from the session, without xonsh's own variables; and what the shell tells every child.
    environment = {name: to_json(value) for name, value in (spec.env or {}).items() if not name.startswith(_OWN)}
    if not callable(spec.alias) and (display := xsh().env.get("LASH_DISPLAY")) is not None:
        environment.setdefault("LASH_DISPLAY", to_json(display))  # as lash's own example
    data: dict[str, Any] = {
        "command": name, "args": args, "env": environment, "cwd": current_directory(),
        "pipeline_id": running.id if running else "", "index": spec.pipeline_index or 0,
    }  # fmt: skip
    if callable(spec.alias):
        data["builtin"] = True
    elif running is not None and (typed := command_text({**data, "redirects": []}, running.globs)) != shlex.join(
        (name, *args)
    ):
        data["text"] = typed
    return data


def _words(spec: Any) -> tuple[str, list[str]]:
    words = [argument_text(each) for each in spec.cmd]
    if callable(spec.alias):
        # xonsh has removed the name: only the arguments are left.
        return str(spec.alias_name or argument_text(spec.alias)), words
    return (words[0], words[1:]) if words else ("", [])


def _apply_changes(spec: Any, data: dict[str, Any], answer: ShellAnswer) -> ShellAnswer:
    """Put the changes into the spec. An impossible change is a denial, unless the hooks allow it to be dropped."""
    new = answer.data
    builtin = callable(spec.alias)
    if (builtin and answer.changed & {"command", "cwd"}) or not _is_valid(new):
        why = f"a hook changed {', '.join(sorted(answer.changed))} of {data['command']}, which is not possible"
        return answer if answer.droppable else replace(answer, allowed=False, reason=why, owner="hookline")
    spec.cmd = [*([] if builtin else [new["command"]]), *new["args"]]
    if "env" in answer.changed:
        own = {name: value for name, value in (spec.env or {}).items() if name.startswith(_OWN)}
        spec.env = {**own, **new["env"]}
    if "cwd" in answer.changed:
        spec.cls = functools.partial(spec.cls, cwd=new["cwd"])
    return answer


def _is_valid(new: Any) -> bool:
    args, env = new.get("args"), new.get("env")
    return (
        isinstance(new.get("command"), str)
        and bool(new["command"])
        and isinstance(args, list)
        and all(isinstance(each, str) for each in args)
        and isinstance(env, dict)
        and all(isinstance(value, str) for value in env.values())
        and os.path.isdir(str(new.get("cwd")))
    )


def _group(pid: int | None) -> int | None:
    try:
        return None if pid is None else os.getpgid(pid)
    except OSError:  # it has ended already
        return pid


def _without_our_frame(spec: Any) -> None:
    """A function that inspects its caller's stack must not find our patch."""
    stack = getattr(spec, "stack", None)
    while stack and stack[0].function.startswith("subproc_"):
        del stack[0]
