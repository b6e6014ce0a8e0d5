"""display.mode_switch: a program takes the whole screen, and gives it back.

If xonsh hands the terminal to a program, it cannot see the program's output: the switch is predicted from what xonsh
knows about the program, and marked as such. If xonsh passes the output on, the switch is detected.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.xonsh.patch_points import Patches, is_interactive, xsh

#: Programs that want the terminal for themselves, and write lines into it.
_LINES = frozenset({"cat", "clear", "cls", "pv", "repo", "scp", "tput", "xclip", "xdg-open", "yes"})


class DisplayHooks:
    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher

    def install(self, patches: Patches) -> None:
        patches.apply("pipeline", self._around_start)
        patches.apply("end", self._around_end)
        patches.apply("alt_mode", self._around_alt_mode)

    def _around_start(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def run_command_pipeline(specs: list[Any], cmds: list[Any]) -> Any:
            full = (
                self._dispatcher.has_hooks("display.mode_switch") and is_interactive() and _takes_the_screen(specs[-1])
            )
            pipeline = original(specs, cmds)
            if full and pipeline.proc is not None and pipeline.pid and not pipeline.spec.background:
                pipeline.hookline_full = True
                self._switched(pipeline.pid, "stream", "tui", predicted=True)
            return pipeline

        return run_command_pipeline

    def _around_end(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def end(pipeline: Any, tee_output: bool) -> Any:
            try:
                return original(pipeline, tee_output)
            finally:
                if getattr(pipeline, "hookline_full", False):
                    pipeline.hookline_full = False
                    self._switched(pipeline.pid, "tui", "stream", predicted=True)

        return end

    def _around_alt_mode(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def alt_mode_switch(thread: Any, *args: Any, **kwargs: Any) -> Any:
            before = thread.in_alt_mode
            result = original(thread, *args, **kwargs)
            if thread.in_alt_mode != before:
                here, there = ("tui", "stream") if before else ("stream", "tui")
                self._switched(thread.pid, here, there, predicted=False)
            return result

        return alt_mode_switch

    def _switched(self, pid: Any, here: str, there: str, *, predicted: bool) -> None:
        data: dict[str, Any] = {"pid": pid, "from": here, "to": there}
        self._dispatcher.fire("display.mode_switch", {**data, "predicted": True} if predicted else data)


def _takes_the_screen(spec: Any) -> bool:
    if callable(spec.alias) or spec.stdout is not None or os.path.basename(spec.args[0]) in _LINES:
        return False
    try:
        return not xsh().commands_cache.predict_threadable(spec.args)
    except Exception:  # a prediction can fail in any way
        return False
