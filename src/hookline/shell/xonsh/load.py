"""``xontrib load hookline``: the same patches in a xonsh that is starting, or running already."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.shell.xonsh.install import EDITOR_EVENTS, install, warn_without_editor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.shell.dispatcher import ShellDispatcher

_LOADED = "hookline_gate"


def load(xsh: Any, environ: Mapping[str, str], *, terminal: bool) -> ShellDispatcher:
    """Once per shell; a second time changes nothing. Raises where this xonsh cannot be wrapped."""
    known: ShellDispatcher | None = getattr(xsh, _LOADED, None)
    if known is not None:
        return known
    editor = bool(xsh.env.get("XONSH_INTERACTIVE")) and terminal
    dispatcher = install(environ, editor=editor)
    setattr(xsh, _LOADED, dispatcher)
    if editor:
        _in_a_running_editor(xsh, dispatcher)
    return dispatcher


def _in_a_running_editor(xsh: Any, dispatcher: ShellDispatcher) -> None:
    """A shell that is open already has made its key processor from the class as it was: it is made anew."""
    shell = getattr(xsh.shell, "shell", None)
    if shell is None:
        return  # still starting
    prompter = getattr(shell, "prompter", None)
    if prompter is None:
        warn_without_editor(dispatcher)
    else:
        prompter.app.key_processor.reset()


__all__ = ["EDITOR_EVENTS", "load"]
