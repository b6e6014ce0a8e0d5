"""display.mode_switch: a program takes the whole screen, and gives it back.

If xonsh hands the terminal to a program, it cannot see the program's output: the switch is concluded from the terminal's
mode, and marked as a prediction. If xonsh passes the output on, the switch is detected.
"""

from __future__ import annotations

import termios
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.xonsh.patch_points import Patches, is_interactive
from hookline.shell.xonsh.prompts import running_app

#: Seconds between two looks at the terminal.
_INTERVAL = 0.05


class DisplayHooks:
    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher

    def install(self, patches: Patches) -> None:
        patches.apply("end", self._around_end)
        patches.apply("alt_mode", self._around_alt_mode)

    def _around_end(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """The function that waits for a pipeline in the foreground, also after ``fg``."""

        def end(pipeline: Any, tee_output: bool) -> Any:
            pid = getattr(pipeline.proc, "hookline_pid", None)
            if pid is None or not self._is_watched() or pipeline.spec.background:
                return original(pipeline, tee_output)
            with self._watched(pipeline.proc, pid):
                return original(pipeline, tee_output)

        return end

    def _is_watched(self) -> bool:
        return self._dispatcher.has_hooks("display.mode_switch") and is_interactive() and running_app() is None

    @contextmanager
    def _watched(self, proc: Any, pid: int) -> Generator[None]:
        over = threading.Event()
        watching = threading.Thread(target=self._watch, args=(proc, pid, over), daemon=True)
        watching.start()
        try:
            yield
        finally:
            over.set()
            watching.join()

    def _watch(self, proc: Any, pid: int, over: threading.Event) -> None:
        before = "stream"
        while not over.wait(_INTERVAL):
            drawn = _is_raw() and not getattr(proc, "in_alt_mode", False)  # that one is detected
            if (now := "tui" if drawn else "stream") != before:
                self._switched(pid, before, now, predicted=True)
                before = now
        if before == "tui":
            self._switched(pid, "tui", "stream", predicted=True)

    def _around_alt_mode(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """xonsh calls it again for the rest of what it has read, so one call can be in the middle of another."""

        def alt_mode_switch(thread: Any, *args: Any, **kwargs: Any) -> Any:
            self._compare(thread)
            result = original(thread, *args, **kwargs)
            self._compare(thread)
            return result

        return alt_mode_switch

    def _compare(self, thread: Any) -> None:
        if thread.in_alt_mode == getattr(thread, "hookline_alt_mode", False):
            return
        thread.hookline_alt_mode = thread.in_alt_mode
        here, there = ("stream", "tui") if thread.in_alt_mode else ("tui", "stream")
        self._switched(thread.pid, here, there, predicted=False)

    def _switched(self, pid: Any, here: str, there: str, *, predicted: bool) -> None:
        data: dict[str, Any] = {"pid": pid, "from": here, "to": there}
        self._dispatcher.fire("display.mode_switch", {**data, "predicted": True} if predicted else data)


def _is_raw() -> bool:
    """A program that draws the screen reads single keys."""
    try:
        return not termios.tcgetattr(0)[3] & termios.ICANON
    except termios.error:
        return False
