"""Commands and scripts: one process per event."""

from __future__ import annotations

import os
import time
from contextlib import suppress

from hookline.core._dataclass import replace
from hookline.core.code_variables import is_isolated_python
from hookline.core.errors import StateError
from hookline.core.hook import HookSpec, file_folder
from hookline.core.result import RunResult
from hookline.runners.base import Job
from hookline.runners.environ import (
    DEPTH_VARIABLE,
    EnvironCache,
    Workspace,
    bytecode_folder,
    hook_environ,
    next_depth,
    pass_on,
    remove_tree,
)
from hookline.runners.process import run_process
from hookline.runners.programs import find_program, missing, program_places
from hookline.runners.spawn import Launch, detach, why_not


class CommandRunner:
    """Runs argv, shell text and scripts: for a runner they are all a program with arguments."""

    __slots__ = ("_surroundings",)

    def __init__(self) -> None:
        self._surroundings = EnvironCache()

    def run(self, job: Job) -> RunResult:
        began = time.monotonic()
        workspace = Workspace(job.settings.state_dir)
        try:
            launch = self._prepared(job, workspace)
            if isinstance(launch, RunResult):
                return launch
            return run_process(launch, timeout=_left(job, began), settings=job.settings, stop=job.stop)
        finally:
            workspace.remove()

    async def arun(self, job: Job) -> RunResult:
        """The same under a running loop."""
        from hookline.runners.process_async import run_process_async  # it needs a running loop

        began = time.monotonic()
        workspace = Workspace(job.settings.state_dir)
        launch = self._prepared(job, workspace)
        if isinstance(launch, RunResult):
            workspace.remove()
            return launch
        return await run_process_async(
            launch, seconds=_left(job, began), settings=job.settings, stop=job.stop, afterwards=workspace.remove
        )

    def start(self, job: Job) -> RunResult:
        """Start it detached: its own session, none of our streams, and only the reaper waits for it."""
        workspace = Workspace(job.settings.state_dir)
        launch = self._prepared(job, workspace)
        try:
            raw = launch if isinstance(launch, RunResult) else _start_detached(_limited(launch, job), workspace)
        except (OSError, StateError) as error:
            raw = _unprepared(error)
        if raw.error:
            workspace.remove()
        return raw

    def discard(self, job: Job) -> None:
        """Forget what was compiled while the hook's files were not as approved."""
        if job.approved is not None and job.approved.has_modules:
            remove_tree(bytecode_folder(job, job.approved.version))

    def close(self) -> None:
        """Nothing outlives a run but detached hooks, which are independent."""

    def _prepared(self, job: Job, workspace: Workspace) -> Launch | RunResult:
        try:
            return self._prepare(job, workspace)
        except (OSError, StateError) as error:
            return _unprepared(error)

    def _prepare(self, job: Job, workspace: Workspace) -> Launch | RunResult:
        """Everything before the spawn; a ``RunResult`` if the program cannot be found."""
        if job.stop.is_set():
            return RunResult(error="stopped from outside before it was started")
        call, event = job.call, job.event
        host = job.settings.host if call.hosted else None
        beside = (call.cwd or event.cwd) if host is not None and job.spec.mode != "detached" else ""
        argv = call.argv if call.script is None else script_argv(call.argv, call.script, workspace, beside)
        if not argv or not argv[0]:
            return RunResult(error="there is nothing to run; write a command")
        caller = self._surroundings.of(event.environ)
        environ, notes = hook_environ(job, caller)
        environ[DEPTH_VARIABLE] = next_depth(caller)
        if call.standins:
            environ["PATH"] = _with_standins(environ.get("PATH", os.defpath), job)
        if job.approved is not None and (compiled := environ.get("PYTHONPYCACHEPREFIX")) and is_isolated_python(argv):
            argv = (argv[0], "-X", f"pycache_prefix={compiled}", *argv[1:])  # it does not read the variable
        cwd, lost = _existing(call.cwd or event.cwd, job.spec)
        places = program_places(job.spec, argv[0], cwd or ".")
        path = environ.get("PATH", os.defpath)
        argv, program = _first_found((argv, *call.fallbacks), path, places)
        if not program:
            return RunResult(error=missing(argv[0], path, places))
        passed = pass_on(argv, environ, workspace)
        return Launch(
            program=program,
            argv=passed.argv,
            environ=passed.environ,
            cwd=cwd,
            stdin=call.stdin,
            notes=(*notes, *passed.notes, *lost),
            host=host,
            on_start=job.on_start,
            terminal=host is not None and host.terminal is not None and job.spec.mode == "sync",
        )


def _existing(cwd: str, spec: HookSpec) -> tuple[str, tuple[str, ...]]:
    """The directory to run in. An agent can remove its own, which must not switch off a guard: then it is the hook's
    project, or the folder of its file."""
    if not cwd or os.path.isdir(cwd):
        return cwd, ()
    folder = spec.extra.get("project") or file_folder(spec.origin.file)
    folder = folder if os.path.isabs(folder) and os.path.isdir(folder) else "/"
    return folder, (f"the working directory {cwd} does not exist, so it ran in {folder}",)


def _unprepared(error: Exception) -> RunResult:
    return RunResult(error=f"cannot prepare the hook: {error}")


def _left(job: Job, began: float) -> float | None:
    """The time that is left after the preparation."""
    timeout = job.timeout
    return None if timeout is None else timeout - (time.monotonic() - began)


def _with_standins(path: str, job: Job) -> str:
    from hookline.runners.stub_tools import path_with_stubs  # most dialects need none

    return path_with_stubs(path, job.call.standins, job.settings.state_dir)


def _first_found(
    choices: tuple[tuple[str, ...], ...], path: str, places: tuple[str, ...]
) -> tuple[tuple[str, ...], str]:
    """The first argument list whose program exists; else the first, which the error then speaks of."""
    for argv in choices:
        program = find_program(argv[0], path, places)
        # Whether a full path exists the spawn tells; while there are others to try, it must be known before.
        if program and (len(choices) == 1 or os.path.exists(program)):
            return argv, program
    return choices[0], ""


def _limited(launch: Launch, job: Job) -> Launch:
    """An ``async`` hook has a deadline, and nobody of us is there when its time is up: ``timeout`` ends it."""
    program = find_program("timeout", os.defpath, ()) if job.spec.mode == "async" else ""
    if not program or not os.access(launch.program, os.X_OK):  # starting it as it is tells what is wrong
        return launch
    argv = ("timeout", "-k", "5", f"{job.timeout:f}", launch.program, *launch.argv[1:])
    return replace(launch, program=program, argv=argv)


def _start_detached(launch: Launch, workspace: Workspace) -> RunResult:
    payload = launch.stdin
    # A pipe would need us to stay; a file can be read whenever the hook gets to it. Nobody else can: it has no name.
    source = workspace.nameless("stdin", payload) if payload else None
    try:
        pid = detach(launch, source, None, None)
    except OSError as error:
        return RunResult(error=why_not(launch, error))
    finally:
        if source is not None:
            os.close(source)
    workspace.leave(pid)
    from threading import Thread  # noqa: PLC0415  most hooks are waited for

    Thread(target=_reap, args=(pid, workspace), name="hookline-reaper", daemon=True).start()
    return RunResult(notes=launch.notes)


def _reap(pid: int, workspace: Workspace) -> None:
    """Avoid a zombie and files that nobody needs, if we outlive the hook."""
    with suppress(ChildProcessError):
        os.waitpid(pid, 0)
    workspace.finish(pid)


_DEFAULT_INTERPRETER = ("/bin/sh",)


def parse_shebang(source: str) -> tuple[str, ...]:
    """The words of the first line: the interpreter and its arguments.

    The kernel would pass everything after the interpreter as one argument and would stumble over a carriage
    return. People mean words, so words they get; ``env -S`` then has nothing left to split.
    """
    first = source.lstrip("\ufeff").split("\n", 1)[0]
    words = tuple(first[2:].split()) if first.startswith("#!") else ()
    if len(words) > 1 and os.path.basename(words[0]) == "env":
        return (words[0], *_env_arguments(words[1:]))
    return words or _DEFAULT_INTERPRETER


def _env_arguments(words: tuple[str, ...]) -> tuple[str, ...]:
    """``-S`` and ``-vS`` only ask for what has been done already: splitting."""
    first, rest = words[0], words[1:]
    if first in {"-S", "--split-string"}:
        return rest
    if first.startswith("-S"):
        return (first[2:], *rest)
    return words


def script_argv(argv: tuple[str, ...], source: str, workspace: Workspace, beside: str = "") -> tuple[str, ...]:
    """Write ``source`` to a private file and give the whole command line.

    ``argv`` of the caller goes before the file where there is one; the shebang says it otherwise. ``beside`` is a folder
    in which the script looks for others by its own place.
    """
    words = argv or parse_shebang(source)
    # A carriage return at the end of each line would be part of every command.
    text = source.replace("\r\n", "\n").lstrip("\ufeff")
    content = text.encode("utf-8", "surrogateescape")
    path = workspace.file_in(beside, content) if beside else ""
    path = path or workspace.file("script", content, mode=0o700)
    return (*words, path)
