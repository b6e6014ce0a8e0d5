"""All wraps, put in place together or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hookline.core.errors import ConfigError
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, Options
from hookline.shell.xonsh.audit import Audit
from hookline.shell.xonsh.display import Display
from hookline.shell.xonsh.editor import Teller
from hookline.shell.xonsh.environment import Environment
from hookline.shell.xonsh.errors import Errors
from hookline.shell.xonsh.jobs import Jobs
from hookline.shell.xonsh.lines import Lines
from hookline.shell.xonsh.patch_points import Wraps, missing
from hookline.shell.xonsh.pipelines import Pipelines
from hookline.shell.xonsh.processes import Processes
from hookline.shell.xonsh.sessions import Sessions
from hookline.shell.xonsh.variables import Variables
from hookline.shell.xonsh.xonsh_api import xsh

if TYPE_CHECKING:
    from collections.abc import Mapping

#: Events that only a line editor made with prompt_toolkit can fire.
EDITOR_EVENTS = (
    "input.key", "key.tab", "key.up", "key.down", "input.prefix", "input.pre_execute", "prompt.render",
    "completion.request", "input.post_complete",
)  # fmt: skip


def _require_points(*, editor: bool) -> None:
    """Refuses a xonsh that cannot be wrapped whole: a guard with a hole in it is worse than none."""
    lacking = missing(editor=editor)
    if lacking:
        from importlib.metadata import version  # only for the complaint

        listed = "\n  ".join(lacking)
        raise ConfigError(
            f"xonsh {version('xonsh')} cannot carry hookline's hooks, so they are not loaded:\n  {listed}\n"
            "install a version that can: pip install 'hookline[shell]'"
        )


#: xonsh tells of a pipeline before it tells of its processes, and what Python code does has a ``via``.
_IN_PLACE = frozenset(
    {"pipeline.pre_execute", "process.pre_spawn", "process.post_spawn", "process.pre_exit", "pipeline.post_execute"}
)


def install(environ: Mapping[str, str], options: Options | None = None, *, editor: bool) -> ShellDispatcher:
    """The gate of this shell, with every wrap in place. Raises ``ConfigError`` where one is missing."""
    _require_points(editor=editor)
    gate = ShellDispatcher(EngineHost(options or Options(), environ), environ=lambda: _environ(environ))
    gate.where_the_line_began = _IN_PLACE
    wraps = Wraps()
    try:
        _wrap(gate, wraps, editor=editor)
    except BaseException:
        wraps.off()
        gate.close()
        raise
    return gate


def _wrap(gate: ShellDispatcher, wraps: Wraps, *, editor: bool) -> None:
    pipelines = Pipelines(gate)
    pipelines.install(wraps)
    Processes(gate, pipelines).install(wraps)
    Jobs(gate, pipelines).install(wraps)
    Errors(gate, pipelines).install(wraps, editor=editor)
    Lines(gate).install(wraps, editor=editor)
    Environment(gate).install(wraps)
    Display(gate).install(wraps)
    Variables(gate).install()
    Sessions(gate).install()
    if editor:
        _edit(gate, wraps)
    Audit(gate).install()


def _edit(gate: ShellDispatcher, wraps: Wraps) -> None:
    from hookline.shell.xonsh.completion import Completions  # c has no editor
    from hookline.shell.xonsh.keys import Keys
    from hookline.shell.xonsh.prompts import Prompts

    Teller(gate)
    prompts = Prompts(gate)
    prompts.install(wraps)
    Completions(gate).install(wraps)
    Keys(gate, prompts.render).install(wraps)


def _environ(fallback: Mapping[str, str]) -> Mapping[str, str]:
    """What a hook's process inherits: the shell's environment as it is now."""
    env = xsh().env
    if env is None:
        return fallback
    return {str(name): str(value) for name, value in env.detype().items()}


def warn_without_editor(gate: ShellDispatcher) -> None:
    """Hooks that this line editor cannot serve must not be missed in silence."""
    lost = [event for event in EDITOR_EVENTS if gate.hears(event)]
    if lost:
        gate.tell(f"hookline: this shell's line editor is not prompt_toolkit; no hook hears {', '.join(lost)}")
