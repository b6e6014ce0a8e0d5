"""session.connect and session.disconnect: the shell starts and ends."""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
from typing import TYPE_CHECKING, Any

from hookline.shell.xonsh.xonsh_api import REFUSED, is_interactive, xonsh_module

if TYPE_CHECKING:
    from collections.abc import Callable

    from hookline.shell.dispatcher import ShellDispatcher


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
        atexit.register(self._lost)

    def _listen(self) -> None:
        """xonsh ends on these signals; only remember which."""
        if threading.current_thread() is not threading.main_thread():
            return
        for number, cause in ((signal.SIGHUP, "hangup"), (signal.SIGTERM, "killed")):
            signal.signal(number, self._remembering(cause, signal.getsignal(number), number))

    def _remembering(self, cause: str, before: Any, number: int) -> Callable[[int, Any], None]:
        def handle(received: int, frame: Any) -> None:
            self._cause = cause
            if callable(before):
                before(received, frame)
            elif before == signal.SIG_DFL:
                sys.exit(128 + number)

        return handle

    def _connect(self) -> None:
        self._listen()
        data = {
            "frontend": "xonsh", "pid": os.getpid(), "tty": _terminal(), "cwd": os.getcwd(),
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

    def _lost(self) -> None:
        self.disconnect(self._cause or "hangup", None)

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
