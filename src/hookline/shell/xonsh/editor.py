"""The line editor while it is open: telling the person something above the line, and drawing anew."""

from __future__ import annotations

import sys
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from hookline.shell.xonsh.xonsh_api import xsh

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.shell.dispatcher import ShellDispatcher


def prompter() -> Any:
    """prompt_toolkit's session of this shell; None when the shell has another editor, or none."""
    return getattr(getattr(xsh().shell, "shell", None), "prompter", None)


def running_app() -> Any:
    """The application, if the person is typing in it at this moment."""
    session = prompter()
    app = getattr(session, "app", None)
    return app if app is not None and app.is_running else None


def in_its_loop(action: Callable[[], Any]) -> None:
    """From any thread; dropped when the editor is closed meanwhile."""
    app = running_app()
    loop = getattr(app, "loop", None)
    if loop is not None:
        with suppress(RuntimeError):  # closed between the look and the call
            loop.call_soon_threadsafe(action)


def redraw() -> None:
    app = running_app()
    if app is not None:
        app.invalidate()


class Teller:
    """What is said while a line is being typed appears above it."""

    def __init__(self, gate: ShellDispatcher) -> None:
        gate.tell = self.tell

    def tell(self, text: str) -> None:
        if running_app() is None:
            _write(text)
        else:
            in_its_loop(lambda: self._above(text))

    @staticmethod
    def _above(text: str) -> None:
        from prompt_toolkit.application import run_in_terminal  # the editor is there when it runs

        run_in_terminal(lambda: _write(text))


def _write(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
