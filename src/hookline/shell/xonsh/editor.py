"""The open line editor: show a message above the line, redraw the prompt."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.shell.dispatcher import write_stderr
from hookline.shell.xonsh.xonsh_api import xsh

if TYPE_CHECKING:
    from collections.abc import Callable


def prompter() -> Any:
    """prompt_toolkit's session; None if the shell has another editor, or none."""
    return getattr(getattr(xsh().shell, "shell", None), "prompter", None)


def running_app() -> Any:
    """The application, if the person is typing in it."""
    session = prompter()
    app = getattr(session, "app", None)
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
        call_in_editor(lambda: _above_line(text))


def _above_line(text: str) -> None:
    from prompt_toolkit.application import run_in_terminal  # the editor is imported when this runs

    run_in_terminal(lambda: write_stderr(text))
