"""``hookline shell``: xonsh in this process, patched before its first line runs."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from hookline.core.errors import ConfigError, StateError
from hookline.core.extras import install_command
from hookline.core.paths import unusable
from hookline.shell.dispatcher import ShellDispatcher, write_stderr
from hookline.shell.engine_host import ShellOptions
from hookline.shell.xonsh.install import EDITOR_EVENTS, install, warn_without_editor

_LOADED = "hookline_gate"


def load(xsh: Any, environ: Mapping[str, str], *, terminal: bool) -> ShellDispatcher:
    """Once per shell; a second call changes nothing. Raises if this xonsh cannot be patched."""
    known: ShellDispatcher | None = getattr(xsh, _LOADED, None)
    if known is not None:
        return known
    editor = bool(xsh.env.get("XONSH_INTERACTIVE")) and terminal
    xsh.env.setdefault("LASH_DISPLAY", _display())
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


#: The fix for xonsh's own directories.
_XONSH_FIX = "set XDG_CONFIG_HOME and XDG_DATA_HOME to directories of your own"


def start(words: Sequence[str], options: ShellOptions, *, command: bool) -> int:
    """Run xonsh with these arguments; its exit code. ``command``: it runs one text, without a line editor."""
    main = _xonsh(editor=not command)
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)  # xonsh handles them itself
    editor = not command and sys.stdin.isatty()
    os.environ.setdefault("LASH_DISPLAY", _display())
    install(dict(os.environ), options, editor=editor)
    # Not xonsh's main(): on any failure that starts another shell, without hooks.
    if (handshake := getattr(main, "_setup_controlling_terminal", None)) is not None:
        handshake()
    try:
        args = main.premain(list(words))
    except OSError as error:  # it creates directories; errors in rc files it reports itself
        if not error.filename:
            raise
        raise StateError(f"xonsh cannot start: {unusable(str(error.filename), error, _XONSH_FIX)}") from error
    ended = main.main_xonsh(args)
    if isinstance(ended, str):  # sys.exit("why")
        write_stderr(ended)
        return 1
    return int(ended or 0)


def _display() -> str:
    """What every child is told that the shell can show."""
    return "stream,tui" if sys.stdout.isatty() else "stream"


def _xonsh(*, editor: bool) -> Any:
    try:
        main = import_module("xonsh.main")
        if editor:
            import_module("prompt_toolkit")
    except ImportError as error:
        raise ConfigError(f"the shell needs xonsh; install it with: {install_command('shell')} ({error})") from None
    return main
