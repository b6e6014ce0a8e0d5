"""input.submit: a whole line before it is parsed, at the prompt or from ``-c``."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from collections.abc import Callable
from typing import Any

from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.engine_host import current_directory
from hookline.shell.xonsh.patch_points import REFUSED, Patches, is_interactive, xonsh_module, xsh


class SessionHooks:
    """xonsh has events for both. A denial ends the shell with SystemExit, which its events do not swallow."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher
        self._over = False
        #: Why the shell ends, if a signal ends it.
        self._cause = ""

    def install(self) -> None:
        events = xonsh_module("events").events
        # xonsh sets an attribute on its handlers, which a method does not allow.
        events.on_post_init(lambda **_: self._connect())
        events.on_exit(lambda exit_code=None, **_: self._exit(exit_code))
        atexit.register(lambda: self.disconnect(self._cause or "hangup", None))

    def _remembering(self, cause: str, before: Any, number: int) -> Callable[[int, Any], None]:
        def handle(received: int, frame: Any) -> None:
            self._cause = cause
            if callable(before):
                before(received, frame)
            elif before == signal.SIG_DFL:
                sys.exit(128 + number)

        return handle

    def _connect(self) -> None:
        # xonsh ends on these signals; only remember which.
        if threading.current_thread() is threading.main_thread():
            for number, cause in ((signal.SIGHUP, "hangup"), (signal.SIGTERM, "killed")):
                signal.signal(number, self._remembering(cause, signal.getsignal(number), number))
        data = {
            "frontend": "xonsh", "pid": os.getpid(), "tty": _terminal(), "cwd": current_directory(),
            "interactive": is_interactive(),
        }  # fmt: skip
        answer = self._dispatcher.fire("session.connect", data)
        if not answer.allowed:
            self._dispatcher.notify(answer.problem)
            self.disconnect("exit", REFUSED)
            sys.exit(REFUSED)

    def _exit(self, exit_code: Any) -> None:
        reason = self._cause or ("eof" if self._dispatcher.idle else "exit")
        self.disconnect(reason, exit_code if isinstance(exit_code, int) else None)

    def disconnect(self, reason: str, code: int | None) -> None:
        """Once. Afterwards nothing is fired, and plugins have ended."""
        if self._over:
            return
        self._over = True
        self._dispatcher.fire("session.disconnect", {"reason": reason, "exit_code": code})
        self._dispatcher.close()


def _terminal() -> str | None:
    try:
        return os.ttyname(0)
    except OSError:
        return None


#: The name under which xonsh runs the text of ``-c``.
_COMMAND = "<string>"


class LineHooks:
    """xonsh's own event fires twice per line and swallows exceptions, so its callers are patched instead."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher
        #: The running line as it was typed, if it must not go into the history.
        self._forget = ""

    def install(self, patches: Patches, *, editor: bool) -> None:
        patches.apply("submit", self._around_transform)
        patches.apply("command", self._around_command)
        patches.apply("history", self._around_history)
        if editor:
            patches.apply("submit_editor", self._around_transform)

    def _around_transform(self, original: Callable[..., str]) -> Callable[..., str]:
        def transform_command(src: str, *args: Any, **kwargs: Any) -> str:
            text = original(src, *args, **kwargs)
            return text if not text.strip() else self._submitted(text) or ""

        return transform_command

    def _submitted(self, text: str, *, history: bool = True) -> str | None:
        """The line as hooks changed it; None if it was denied."""
        self._dispatcher.idle = False
        line = text.rstrip("\n")
        answer = self._dispatcher.fire("input.submit", {"text": line, "history": history})
        if not answer.allowed:
            self._dispatcher.notify(answer.problem)
            if (kept := xsh().history) is not None:
                kept.last_cmd_rtn = REFUSED
            xsh().env["LAST_RETURN_CODE"] = REFUSED
            return None
        self._forget = line if "history" in answer.changed and not answer.data["history"] else ""
        changed = answer.data["text"] if "text" in answer.changed else line
        self._dispatcher.line = changed if isinstance(changed, str) else line
        return f"{changed}{text[len(line) :] or chr(10)}" if isinstance(changed, str) else text

    def _around_command(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run_code(code: str, display_filename: str, *args: Any, **kwargs: Any) -> Any:
            if display_filename != _COMMAND or not code.strip():
                return original(code, display_filename, *args, **kwargs)
            text = self._submitted(code, history=False)
            if text is None:
                xsh().exit = REFUSED
                return None, None, None
            return original(text if text.rstrip("\n") != code else code, display_filename, *args, **kwargs)

        return run_code

    def _around_history(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def append_history(shell: Any, *args: Any, **kwargs: Any) -> Any:
            history = xsh().history
            if not self._forget or history is None:
                return original(shell, *args, **kwargs)
            _forget_typed(shell, self._forget)
            self._forget = ""
            history.append = lambda _command: None  # on this object, for this line
            try:
                return original(shell, *args, **kwargs)
            finally:
                del history.append

        return append_history


def _forget_typed(shell: Any, line: str) -> None:
    """The editor has put the line into a history of its own at Enter, newest first; Up would bring it back."""
    history = getattr(getattr(shell, "prompter", None), "history", None)
    known: list[str] | None = getattr(history, "_loaded_strings", None)
    if known and known[0].rstrip("\n") == line:
        del known[0]
