"""``xontrib load hookline``: the same patches in a xonsh that is starting or already running."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hookline.shell.xonsh.install import EDITOR_EVENTS, install, warn_without_editor

if TYPE_CHECKING:
    from collections.abc import Mapping

    from hookline.shell.dispatcher import ShellDispatcher

_LOADED = "hookline_gate"


def load(xsh: Any, environ: Mapping[str, str], *, terminal: bool) -> ShellDispatcher:
    """Once per shell; a second call changes nothing. Raises if this xonsh cannot be patched."""
    known: ShellDispatcher | None = getattr(xsh, _LOADED, None)
    if known is not None:
        return known
    editor = bool(xsh.env.get("XONSH_INTERACTIVE")) and terminal
    dispatcher = install(environ, editor=editor)
    setattr(xsh, _LOADED, dispatcher)
    if editor:
        _reset_running_editor(xsh, dispatcher)
    return dispatcher


def _reset_running_editor(xsh: Any, dispatcher: ShellDispatcher) -> None:
    """A running shell created its key processor before the patch: recreate it."""
    shell = getattr(xsh.shell, "shell", None)
    if shell is None:
        return  # still starting
    prompter = getattr(shell, "prompter", None)
    if prompter is None:
        warn_without_editor(dispatcher)
    else:
        prompter.app.key_processor.reset()


__all__ = ["EDITOR_EVENTS", "load"]
