"""The one table of the places where xonsh is patched, and the check that they all exist.

Only a patch can deny something: xonsh's own events swallow the exceptions of their handlers, and the command runs. So a
xonsh without one of these places is rejected, with its name, before it starts.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import cache
from importlib import import_module
from typing import Any, cast

from hookline.core._dataclass import dataclass, field
from hookline.shell.dispatcher import ShellAnswer


@dataclass(frozen=True, slots=True, kw_only=True)
class PatchPoint:
    """One attribute of xonsh or its line editor that is patched."""

    name: str
    #: ``package.module:Class.attribute`` or ``package.module:function``.
    where: str
    #: Parameters that the patch relies on.
    takes: tuple[str, ...] = ()
    #: The events fired here.
    fires: tuple[str, ...] = ()
    #: Only needed with the line editor.
    editor: bool = False
    #: Only used, never replaced.
    used: bool = False


def _point(name: str, where: str, takes: str = "", fires: str = "", **more: bool) -> PatchPoint:
    return PatchPoint(name=name, where=where, takes=tuple(takes.split()), fires=tuple(fires.split()), **more)


POINTS: tuple[PatchPoint, ...] = (
    # ── processes, pipelines, files ──────────────────────────────────────────────────────────────────
    _point("run_subproc", "xonsh.procs.specs:run_subproc", "cmds captured envs", "pipeline.pre_execute"),
    _point("redirect", "xonsh.procs.specs:_redirect_streams", "r loc", "file.redirect"),
    _point("spawn", "xonsh.procs.specs:SubprocSpec.run", "pipeline_group", "process.pre_spawn process.post_spawn"),
    _point("pipeline", "xonsh.procs.specs:_run_command_pipeline", "specs cmds"),
    _point("exit", "xonsh.procs.pipelines:CommandPipeline._apply_to_history", "", "process.pre_exit"),
    _point("end", "xonsh.procs.pipelines:CommandPipeline._end", "tee_output", "pipeline.post_execute display.mode_switch"),
    _point("resume", "xonsh.procs.pipelines:CommandPipeline.resume", "job"),
    _point("alt_mode", "xonsh.procs.posix:PopenThread._alt_mode_switch", "chunk", "display.mode_switch"),
    _point("return_code", "xonsh.procs.pipelines:CommandPipeline.returncode", used=True),
    # ── jobs ─────────────────────────────────────────────────────────────────────────────────────────
    _point("add_job", "xonsh.procs.jobs:add_job", "info", "job.background"),
    _point("resume_job", "xonsh.procs.jobs:resume_job", "args wording", "job.background job.foreground"),
    _point("stopped", "xonsh.procs.jobs:proc_untraced_waitpid", "proc hang task", "job.background"),
    _point("stopped_thread", "xonsh.procs.posix:proc_untraced_waitpid", "proc hang task", "job.background"),
    _point("job_number", "xonsh.procs.jobs:get_next_job_number", used=True),
    _point("continue_job", "xonsh.procs.jobs:_continue", "job", used=True),
    _point("give_terminal", "xonsh.procs.jobs:give_terminal_to", "pgid", used=True),
    # ── variables, environment, settings ─────────────────────────────────────────────────────────────
    _point("env_set", "xonsh.environ:Env._set_item", "key val thread_local", "env.change config.change"),
    _point("env_del", "xonsh.environ:Env._del_item", "key thread_local", "env.change config.change"),
    _point("env_swap", "xonsh.environ:Env.swap", "other", "env.change config.change"),
    _point("path_set", "xonsh.environ:EnvPath.__setitem__", "index item", "env.change"),
    _point("path_del", "xonsh.environ:EnvPath.__delitem__", "key", "env.change"),
    _point("path_insert", "xonsh.environ:EnvPath.insert", "index value", "env.change"),
    _point("path_append", "xonsh.environ:EnvPath.append", "value", "env.change"),
    _point("path_prepend", "xonsh.environ:EnvPath.prepend", "value", "env.change"),
    _point("path_remove", "xonsh.environ:EnvPath.remove", "value", "env.change"),
    _point("path_add", "xonsh.environ:EnvPath.add", "data", "env.change"),
    _point("session", "xonsh.built_ins:XSH", "", "variable.set variable.drop", used=True),
    # ── lines and errors ─────────────────────────────────────────────────────────────────────────────
    _point("submit", "xonsh.shells.base_shell:transform_command", "src", "input.submit"),
    _point("command", "xonsh.main:run_code_with_cache", "code display_filename", "input.submit"),
    _point("history", "xonsh.shells.base_shell:BaseShell._append_history"),
    _point("run_code", "xonsh.shells.base_shell:run_compiled_code", "code glb loc mode", "error.dispatch"),
    _point("error_shell", "xonsh.shells.base_shell:print_exception", "exc_info", "error.dispatch"),
    _point("error_pipeline", "xonsh.tools:print_exception", "exc_info", "error.dispatch"),
    _point("error_main", "xonsh.main:print_exception", "exc_info", "error.dispatch"),
    _point("error_syntax", "xonsh.main:display_error_message", "exc_info", "error.dispatch"),
    # ── the line editor ──────────────────────────────────────────────────────────────────────────────
    _point("submit_editor", "xonsh.shells.ptk_shell:transform_command", "src", "input.submit", editor=True),
    _point("error_editor", "xonsh.shells.ptk_shell:print_exception", "exc_info", "error.dispatch", editor=True),
    _point("line", "xonsh.shells.ptk_shell:PromptToolkitShell.singleline", "", "prompt.render", editor=True),
    _point("prompt", "xonsh.shells.ptk_shell:PromptToolkitShell.prompt_tokens", "", "prompt.render", editor=True),
    _point("right_prompt", "xonsh.shells.ptk_shell:PromptToolkitShell.rprompt_tokens", "", "prompt.render", editor=True),
    _point("complete", "xonsh.shells.ptk_shell.completer:PromptToolkitCompleter.get_completions", "document complete_event",
           "completion.request input.post_complete", editor=True),
    _point("choose", "prompt_toolkit.buffer:Buffer.go_to_completion", "index", "input.post_complete", editor=True),
    _point("keys", "prompt_toolkit.key_binding.key_processor:KeyProcessor._process", "",
           "input.key key.tab key.up key.down input.prefix", editor=True),
    _point("accept", "prompt_toolkit.buffer:Buffer.validate_and_handle", "", "input.pre_execute", editor=True),
    _point("flush", "prompt_toolkit.key_binding.key_processor:_Flush", editor=True, used=True),
    _point("candidates", "prompt_toolkit.buffer:Buffer._set_completions", "completions", editor=True, used=True),
)  # fmt: skip

BY_NAME = {point.name: point for point in POINTS}

#: Events from xonsh's own events, where no exception is needed to stop something.
ANNOUNCED = {"session.connect": "on_post_init", "session.disconnect": "on_exit"}


def _locate(point: PatchPoint) -> tuple[Any, str]:
    """The object with the attribute, and the attribute's name. Raises ImportError and AttributeError."""
    module, _, path = point.where.partition(":")
    owner: Any = import_module(module)
    *outer, last = path.split(".")
    for name in outer:
        owner = getattr(owner, name)
    return owner, last


def missing(points: Iterable[PatchPoint] = POINTS, *, editor: bool = True) -> list[str]:
    """The places that this xonsh lacks; empty if it can be patched."""
    return [why for point in points if (editor or not point.editor) and (why := _problem(point))]


def _problem(point: PatchPoint) -> str:
    try:
        owner, name = _locate(point)
        found = getattr(owner, name)
    except (ImportError, AttributeError) as error:
        return f"{point.where} is missing ({error})"
    if not point.takes:
        return ""
    try:
        has = inspect.signature(found).parameters
    except (TypeError, ValueError):
        return f"{point.where} is no longer a function"
    lacks = [name for name in point.takes if name not in has]
    return f"{point.where} no longer takes {', '.join(lacks)}" if lacks else ""


@dataclass(slots=True, kw_only=True)
class Patches:
    """The applied patches, so that they can be undone in reverse order."""

    _done: list[tuple[Any, str, Any]] = field(default_factory=list[tuple[Any, str, Any]])

    def apply(self, name: str, make: Callable[[Any], Any]) -> None:
        """Replace the function by what ``make`` returns for it."""
        owner, attribute = _locate(BY_NAME[name])
        # The plain function of a class, not a bound one.
        original = vars(owner).get(attribute, getattr(owner, attribute))
        self._done.append((owner, attribute, original))
        setattr(owner, attribute, make(original))

    def undo(self) -> None:
        while self._done:
            owner, attribute, original = self._done.pop()
            setattr(owner, attribute, original)


#: The exit code of a command that was found and could not be run.
REFUSED = 126


def xsh() -> Any:
    """The session; xonsh has no types."""
    return import_module("xonsh.built_ins").XSH


def xonsh_module(name: str) -> Any:
    return import_module(f"xonsh.{name}")


@cache
def _refusal_type() -> type[Exception]:
    """A subclass of xonsh's error, made on first use."""
    base = import_module("xonsh.tools").XonshError
    return type("Denied", (base,), {"__doc__": "A hook refused.", "code": REFUSED, "answer": None})


def refusal(answer: ShellAnswer, *, code: int = REFUSED) -> Exception:
    """An exception to raise: the action does not happen, and the reason is shown."""
    error: Any = _refusal_type()(answer.problem)
    error.code, error.answer = code, answer
    history = xsh().history
    if history is not None:
        history.last_cmd_rtn = code
    return cast("Exception", error)


def is_refusal(error: BaseException | None) -> bool:
    return error is not None and isinstance(error, _refusal_type())


def private(owner: Any, name: str) -> Any:
    """A private attribute; it must be one of the patch points."""
    return getattr(owner, name)


def is_interactive() -> bool:
    env = xsh().env
    return bool(env is not None and env.get("XONSH_INTERACTIVE"))
