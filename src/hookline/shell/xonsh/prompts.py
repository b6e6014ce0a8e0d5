"""prompt.render: the prompt as hooks want it, redrawn for late answers, with the session's mode in front."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from typing import Any

from hookline.engine.executor import Applied
from hookline.shell.dispatcher import ShellDispatcher, write_stderr
from hookline.shell.engine_host import current_directory
from hookline.shell.xonsh.patch_points import Patches, xonsh_module, xsh
from hookline.shell.xonsh.variables import to_json


def _prompter() -> Any:
    """prompt_toolkit's session; None if the shell has another editor, or none."""
    return getattr(getattr(xsh().shell, "shell", None), "prompter", None)


def running_app() -> Any:
    """The application, if the person is typing in it."""
    app = getattr(_prompter(), "app", None)
    return app if app is not None and app.is_running else None


def call_in_editor(action: Callable[[], Any]) -> None:
    """From any thread; dropped if the editor closes meanwhile."""
    app = running_app()
    loop = getattr(app, "loop", None)
    if loop is not None:
        with suppress(RuntimeError):  # closed meanwhile
            loop.call_soon_threadsafe(action)


def redraw() -> None:
    app = running_app()
    if app is not None:
        app.invalidate()


def notify(text: str) -> None:
    """Write to standard error; while a line is being typed, above that line."""
    if running_app() is None:
        write_stderr(text)
    else:
        from prompt_toolkit.application import run_in_terminal  # only with an editor

        call_in_editor(lambda: run_in_terminal(lambda: write_stderr(text)))


class _Drawn(partial[Any]):
    """Evaluated at every redraw, so that a late answer appears."""


class PromptHooks:
    """A hook's prompt is text with colour codes, not a template: a branch named {cwd} stays as it is."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher
        self._prompt: str | None = None
        self._right: str | None = None
        self._watched: Any = None

    def install(self, patches: Patches) -> None:
        patches.apply("line", self._around_line)
        patches.apply("prompt", lambda original: lambda shell: _Drawn(self._left, original(shell)))
        patches.apply("right_prompt", lambda original: lambda shell: _Drawn(self._right_side, original(shell)))
        for event in ("prompt.render", "input.key", "input.submit", "completion.request"):
            self._dispatcher.on_late_answer(event, self._late)

    def render(self) -> None:
        """Fire the event: before a line is read, and when the session's mode has changed."""
        self._prompt = self._right = None
        answer = self._dispatcher.fire(
            "prompt.render", self._data() if self._dispatcher.has_hooks("prompt.render") else {}
        )
        if answer.allowed and answer.changed:
            self._take(answer.data, answer.changed)
        redraw()

    def _data(self) -> dict[str, Any]:
        env = xsh().env
        history = xsh().history
        times = history[-1].ts if history is not None and len(history) else None
        return {
            "prompt": _own_prompt(env.get("PROMPT")), "right": _own_prompt(env.get("RIGHT_PROMPT")), "cwd": current_directory(),
            "exit_code": to_json(env.get("LAST_RETURN_CODE")),
            "duration_ms": round((times[1] - times[0]) * 1000) if times and len(times) == 2 else 0,
            "jobs": len(xonsh_module("procs.jobs").get_jobs()),
        }  # fmt: skip

    def _take(self, data: Any, fields: Any) -> None:
        if "prompt" in fields and isinstance(data.get("prompt"), str):
            self._prompt = data["prompt"]
        if "right" in fields and isinstance(data.get("right"), str):
            self._right = data["right"]

    def _late(self, applied: Applied) -> None:
        if applied.event.kind.name == "prompt.render":
            self._take(applied.data, applied.data.keys())
        redraw()

    def _around_line(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def singleline(shell: Any, *args: Any, **kwargs: Any) -> Any:
            self.render()
            self._dispatcher.idle = True
            self._watch()
            return original(shell, *args, **kwargs)

        return singleline

    def _watch(self) -> None:
        app = getattr(_prompter(), "app", None)
        if app is not None and app is not self._watched:
            self._watched = app
            app.before_render += self._keep

    def _keep(self, _app: Any) -> None:
        """With $ENABLE_ASYNC_PROMPT xonsh replaces our prompt by its own whenever a part of it is ready."""
        session = _prompter()
        for name, draw in (("message", self._left), ("rprompt", self._right_side)):
            shown = getattr(session, name)
            if not isinstance(shown, _Drawn):
                setattr(session, name, _Drawn(draw, shown))

    def _left(self, default: Any) -> Any:
        if self._prompt is not None:
            return _formatted(self._prompt)
        from prompt_toolkit.formatted_text import to_formatted_text  # only with an editor

        mode = self._dispatcher.mode
        return [("class:hookline.mode", f"[{mode}] "), *to_formatted_text(default)] if mode else default

    def _right_side(self, default: Any) -> Any:
        return default if self._right is None else _formatted(self._right)


def _formatted(text: str) -> Any:
    from prompt_toolkit.formatted_text import ANSI, to_formatted_text  # only with an editor

    return to_formatted_text(ANSI(text))


def _own_prompt(template: Any) -> str:
    """xonsh's own prompt as text with colour codes, so that a hook can add to it."""
    if not template:
        return ""
    shell = xsh().shell.shell
    text = shell.prompt_formatter(template)
    return str(xonsh_module("ansi_colors").ansi_partial_color_format(text, hide=False))
