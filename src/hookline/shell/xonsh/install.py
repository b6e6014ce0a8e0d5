"""Apply all patches, or none."""

from __future__ import annotations

import os
from collections.abc import Mapping

from hookline.core.errors import ConfigError
from hookline.core.extras import install_command
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import EngineHost, ShellOptions
from hookline.shell.xonsh.audit import AuditHook
from hookline.shell.xonsh.display import DisplayHooks
from hookline.shell.xonsh.environment import EnvironmentHooks
from hookline.shell.xonsh.errors import ErrorHooks
from hookline.shell.xonsh.jobs import JobHooks
from hookline.shell.xonsh.lines import LineHooks, SessionHooks
from hookline.shell.xonsh.patch_points import Patches, missing, xsh
from hookline.shell.xonsh.pipelines import PipelineHooks
from hookline.shell.xonsh.processes import ProcessHooks
from hookline.shell.xonsh.prompts import notify
from hookline.shell.xonsh.variables import VariableHooks

#: Events that need prompt_toolkit's line editor.
EDITOR_EVENTS = (
    "input.key", "key.tab", "key.up", "key.down", "input.prefix", "input.pre_execute", "prompt.render",
    "completion.request", "input.post_complete",
)  # fmt: skip


def _require_points(*, editor: bool) -> None:
    """Reject a xonsh that cannot be patched completely: a guard with a hole is worse than none."""
    lacking = missing(editor=editor)
    if lacking:
        from importlib.metadata import version  # only for the message

        listed = "\n  ".join(lacking)
        raise ConfigError(
            f"xonsh {version('xonsh')} does not support hookline's hooks, so they are not loaded:\n  {listed}\n"
            f"install a supported version: {install_command('shell')}"
        )


#: Events after ``pipeline.pre_execute``, which has read the current directory.
_PIPELINE_EVENTS = frozenset(
    {"pipeline.pre_execute", "process.pre_spawn", "process.post_spawn", "process.pre_exit", "pipeline.post_execute"}
)


def install(environ: Mapping[str, str], options: ShellOptions | None = None, *, editor: bool) -> ShellDispatcher:
    """The dispatcher of this shell. Raises ``ConfigError`` if a patch point is missing."""
    _require_points(editor=editor)
    host = EngineHost(options or ShellOptions(), environ)
    dispatcher = ShellDispatcher(host, environ=lambda: _environ(environ), pid=os.getpid() if editor else 0)
    dispatcher.cached_cwd_events = _PIPELINE_EVENTS
    patches = Patches()
    try:
        _patch(dispatcher, patches, editor=editor)
    except BaseException:
        patches.undo()
        dispatcher.close()
        raise
    return dispatcher


def _patch(dispatcher: ShellDispatcher, patches: Patches, *, editor: bool) -> None:
    pipelines = PipelineHooks(dispatcher)
    pipelines.install(patches)
    ProcessHooks(dispatcher, pipelines).install(patches)
    JobHooks(dispatcher, pipelines).install(patches)
    ErrorHooks(dispatcher, pipelines).install(patches, editor=editor)
    LineHooks(dispatcher).install(patches, editor=editor)
    EnvironmentHooks(dispatcher).install(patches)
    DisplayHooks(dispatcher).install(patches)
    VariableHooks(dispatcher).install()
    SessionHooks(dispatcher).install()
    if editor:
        _patch_editor(dispatcher, patches)
    AuditHook(dispatcher).install()


def _patch_editor(dispatcher: ShellDispatcher, patches: Patches) -> None:
    from hookline.shell.xonsh.completion import CompletionHooks  # -c has no editor
    from hookline.shell.xonsh.keys import KeyHooks
    from hookline.shell.xonsh.prompts import PromptHooks

    dispatcher.notify = notify
    prompts = PromptHooks(dispatcher)
    prompts.install(patches)
    CompletionHooks(dispatcher).install(patches)
    KeyHooks(dispatcher, prompts.render).install(patches)


def _environ(fallback: Mapping[str, str]) -> Mapping[str, str]:
    """The shell's current environment, for the processes of hooks."""
    env = xsh().env
    if env is None:
        return fallback
    return {str(name): str(value) for name, value in env.detype().items()}


def warn_without_editor(dispatcher: ShellDispatcher) -> None:
    """Name the hooks that cannot work with this line editor."""
    lost = [event for event in EDITOR_EVENTS if dispatcher.has_hooks(event)]
    if lost:
        dispatcher.notify(
            f"hookline: this shell's line editor is not prompt_toolkit, so these events are not fired: {', '.join(lost)}"
        )
