"""A second net: Python code that bypasses the shell is checked too, if a hook can deny it.

``subprocess``, ``os.system`` and ``open(…, "w")`` raise audit events, and an exception there stops them. It is a net, not
a jail: code that wants to avoid it can. The events are those of the shell's own commands, with ``via = "python"``; hooks
can deny them but not change them.
"""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Iterator
from typing import Any

from hookline.core._dataclass import replace
from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher
from hookline.shell.engine_host import current_directory
from hookline.shell.xonsh.patch_points import refusal
from hookline.shell.xonsh.variables import to_json

_PROGRAMS = frozenset({"subprocess.Popen", "os.system", "os.posix_spawn", "os.exec"})
_WATCHED = _PROGRAMS | {"open", "os.putenv", "os.unsetenv"}
_PROGRAM_EVENTS = frozenset({"pipeline.pre_execute", "process.pre_spawn"})

#: The shell and its editor: their actions have other events, or need none.
_SHELL_PACKAGES = frozenset({"xonsh", "prompt_toolkit", "pygments", "hookline"})
#: Actions of hooks are not checked again.
_ENGINE = ("hookline.engine.", "hookline.runners.")
#: Writing here changes no files.
_HARMLESS = ("/dev/", "/proc/")


class AuditHook:
    """An audit hook cannot be removed, so it checks whether it is still needed."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher
        self._library = f"{os.path.dirname(os.path.realpath(os.__file__))}/"
        self._packages = tuple(f"{folder}/" for folder in ("site-packages", "dist-packages"))

    def install(self) -> None:
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if event not in _WATCHED or self._dispatcher.closed or self._dispatcher.busy:
            return
        guards = self._dispatcher.guards
        if event in _PROGRAMS:
            if event == "os.exec" and not os.path.exists(_text(args[0])):
                return  # ``os.execvp`` tries every directory of PATH
            if guards & _PROGRAM_EVENTS and self._from_outside(event):
                self._program(event, args)
            elif event == "os.exec":
                self._dispatcher.flush()  # another program replaces this process
        elif event == "open":
            if "file.redirect" in guards and (written := _written(args)) and self._from_outside(event):
                self._check("file.redirect", written)
        elif "env.change" in guards and self._from_outside(event):
            self._check("env.change", _variable(event, args))

    def _program(self, event: str, args: tuple[Any, ...]) -> None:
        words = _argv(event, args)
        shown = " ".join(map(shlex.quote, words))
        command = {"command": words[0] if words else "", "args": words[1:]}
        if "pipeline.pre_execute" in self._dispatcher.guards:
            commands = [{**command, "redirects": []}]
            data = {"pipeline_id": "", "text": shown, "commands": commands, "background": False, "via": "python"}
            self._check("pipeline.pre_execute", data)
        if "process.pre_spawn" in self._dispatcher.guards:
            self._check(
                "process.pre_spawn",
                {**command, "env": {}, "cwd": current_directory(), "pipeline_id": "", "index": 0, "via": "python"},
            )
        if event == "os.exec":
            self._dispatcher.flush()

    def _check(self, event: str, data: dict[str, Any]) -> None:
        answer: ShellAnswer = self._dispatcher.fire(event, data)
        # Not an OSError: os.execvp would try the next directory of PATH.
        if not answer.allowed:
            raise refusal(answer)
        if answer.changed and not answer.droppable:
            why = f"a hook changed {', '.join(sorted(answer.changed))}, which is not possible for Python code"
            raise refusal(replace(answer, allowed=False, reason=why, owner="hookline"))

    def _from_outside(self, event: str) -> bool:
        """Whether the caller is not the shell, its editor or the engine."""
        if event == "os.exec":
            return True  # also from the shell: ``exec rm x`` starts rm
        if event != "subprocess.Popen" and next(_frames(), ("", ""))[0] == "subprocess":
            return False  # checked already, one level up
        decided = False
        for name, file in _frames():
            if name.startswith(_ENGINE):
                return False
            if not decided and not self._in_library(file):
                if name.partition(".")[0] in _SHELL_PACKAGES:
                    return False
                decided = True
        return True

    def _in_library(self, file: str) -> bool:
        return file.startswith("<frozen") or (
            file.startswith(self._library) and not any(each in file for each in self._packages)
        )


def _frames() -> Iterator[tuple[str, str]]:
    """Module and file of each caller, the innermost first, without this module."""
    frame: Any = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  there is no other way
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if name != __name__:
            yield name, frame.f_code.co_filename
        frame = frame.f_back


def _argv(event: str, args: tuple[Any, ...]) -> list[str]:
    if event == "os.system":
        return ["sh", "-c", _text(args[0])]
    if event == "subprocess.Popen":
        given = args[1]
        words = [_text(each) for each in given] if isinstance(given, list | tuple) else [_text(given)]
        return words or [_text(args[0])]
    return [_text(each) for each in args[1]] or [_text(args[0])]


def _written(args: tuple[Any, ...]) -> dict[str, Any] | None:
    path, mode, flags = (*args, None, None, None)[:3]
    writes = any(letter in mode for letter in "wax+") if isinstance(mode, str) else False
    writes = writes or bool(isinstance(flags, int) and flags & (os.O_WRONLY | os.O_RDWR | os.O_APPEND | os.O_TRUNC))
    if not writes or isinstance(path, int) or path is None:
        return None
    where = os.path.abspath(_text(path))
    if where.startswith(_HARMLESS):
        return None
    append = "a" in mode if isinstance(mode, str) else bool(isinstance(flags, int) and flags & os.O_APPEND)
    return {"path": where, "append": append, "fd": None, "pipeline_id": "", "via": "python"}


def _variable(event: str, args: tuple[Any, ...]) -> dict[str, Any]:
    value = _text(args[1]) if event == "os.putenv" else None
    op = "set" if event == "os.putenv" else "unset"
    return {"name": _text(args[0]), "op": op, "value": value, "old": None, "via": "python"}


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return os.fsdecode(value)
    text = to_json(os.fspath(value) if isinstance(value, os.PathLike) else value)
    return text if isinstance(text, str) else str(text)
