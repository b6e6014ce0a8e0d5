"""Run a program of a conversation: a tool's command, an ``exec:`` prompt, a ``:cmd``. Never through a shell.

The process handling is that of hooks: a deadline, the whole group killed in every case, bounded output.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from hookline.core.errors import StateError
from hookline.core.result import RunResult
from hookline.core.settings import Limits, Settings
from hookline.dialects.lectic.tokens import expand_argv
from hookline.dialects.lectic.validate import NO_SHEBANG, is_script
from hookline.runners.base import Stop
from hookline.runners.command import script_argv
from hookline.runners.environ import Workspace, child_environ, pass_on
from hookline.runners.process import run_process
from hookline.runners.programs import find_program, missing
from hookline.runners.spawn import Launch


@dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """``text`` is one line or a script with a shebang; ``before`` is put in front of it (a sandbox)."""

    text: str
    arguments: tuple[str, ...] = ()
    before: tuple[str, ...] = ()
    environ: Mapping[str, str] = field(repr=False)
    cwd: str
    timeout: float | None = None
    #: Bytes of each stream that are kept.
    output: int = 1 << 20
    state_dir: str = ""


async def run_program(program: Program) -> RunResult:
    """In a thread; cancelling ends the program too."""
    stop = Stop()
    try:
        return await asyncio.to_thread(run_program_sync, program, stop)
    except asyncio.CancelledError:
        stop.set()
        raise


def run_program_sync(program: Program, stop: Stop) -> RunResult:
    """Run it to its end; a failure is in ``RunResult.error``."""
    workspace = Workspace(program.state_dir)
    try:
        launch = _launch(program, workspace)
        if isinstance(launch, RunResult):
            return launch
        limits = replace(Limits(), output=program.output)
        settings = Settings(limits=limits, state_dir=program.state_dir)
        return run_process(launch, timeout=program.timeout, settings=settings, stop=stop)
    except (OSError, StateError) as error:
        return RunResult(error=f"cannot run the program: {error}")
    finally:
        workspace.remove()


def _launch(program: Program, workspace: Workspace) -> Launch | RunResult:
    if is_script(program.text):
        if not program.text.startswith("#!"):
            return RunResult(error=NO_SHEBANG)
        words = script_argv((), program.text, workspace)
    else:
        words = expand_argv(program.text, program.environ)
    argv = (*program.before, *words, *program.arguments)
    if not words:
        return RunResult(error="cmd must not be empty")
    path = program.environ.get("PATH", os.defpath)
    found = find_program(argv[0], path, (program.cwd,))
    if not found:
        return RunResult(error=missing(argv[0], path, (program.cwd,)))
    environ = child_environ(program.environ, frozenset(), {})
    passed = pass_on(argv, environ, workspace)
    return Launch(program=found, argv=passed.argv, environ=passed.environ, cwd=program.cwd, notes=passed.notes)
