"""error.dispatch: fired once per error, wherever xonsh would print it."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable
from contextlib import suppress
from subprocess import CalledProcessError
from typing import Any

from hookline.core.sanitize import lines
from hookline.engine.executor import Applied
from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher, write_stderr
from hookline.shell.xonsh.patch_points import REFUSED, Patches, is_refusal, private, refusal, xsh
from hookline.shell.xonsh.pipelines import PipelineHooks, PipelineRun

_NOT_FOUND = re.compile(r"xonsh: subprocess mode: command not found: (['\"]?)(?P<name>.*)\1")
#: xonsh lists what it would suggest as ``    name: Command (/path)``.
_SUGGESTED = re.compile(r"^\s+(?P<name>\S+): ", re.MULTILINE)
_MAX_TEXT = 4000

_Info = tuple[Any, Any, Any]


class ErrorHooks:
    """``_dispatch`` returns what to show: None for xonsh's own message, "" for nothing, else this text."""

    def __init__(self, dispatcher: ShellDispatcher, pipelines: PipelineHooks) -> None:
        self._dispatcher = dispatcher
        self._pipelines = pipelines

    def install(self, patches: Patches, *, editor: bool) -> None:
        patches.apply("run_code", self._around_code)
        for name in ("error_shell", "error_pipeline", *(["error_editor"] if editor else [])):
            patches.apply(name, self._around_print)
        patches.apply("error_main", self._around_last)
        patches.apply("error_syntax", self._around_display)
        self._dispatcher.on_late_answer("error.dispatch", self._late)

    def _around_print(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def print_exception(msg: Any = None, exc_info: _Info | None = None, *args: Any, **kwargs: Any) -> None:
            info = exc_info if exc_info is not None and exc_info[0] is not None else sys.exc_info()
            shown = self._dispatch(info[1])
            if shown is None:
                original(msg, info, *args, **kwargs)
            elif shown:
                write_stderr(shown)

        return print_exception

    def _around_last(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """For the error that ends ``-c`` or a script: a denial has its own exit code."""
        print_exception = self._around_print(original)

        def last(msg: Any = None, exc_info: _Info | None = None, *args: Any, **kwargs: Any) -> None:
            error = exc_info[1] if exc_info is not None else None
            run: PipelineRun | None = getattr(xsh().lastcmd, "hookline", None)
            followed = isinstance(error, CalledProcessError) and run is not None and run.refused is not None
            print_exception(msg, exc_info, *args, **kwargs)
            if followed or (is_refusal(error) and getattr(error, "code", 1) == REFUSED):
                xsh().exit = REFUSED

        return last

    def _around_display(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def display_error_message(exc_info: _Info, *args: Any, **kwargs: Any) -> None:
            shown = self._dispatch(exc_info[1])
            if shown is None:
                original(exc_info, *args, **kwargs)
            elif shown:
                write_stderr(shown)

        return display_error_message

    def _around_code(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """At the prompt xonsh prints its own errors without a function that could be patched."""
        plain_error = sys.modules["xonsh.tools"].XonshError

        def run_compiled_code(code: Any, glb: Any, loc: Any, mode: str) -> Any:
            result = original(code, glb, loc, mode)
            if not result or not isinstance(result[1], plain_error) or isinstance(result[1], CalledProcessError):
                return result
            shown = self._dispatch(result[1])
            if shown is None:
                return result
            if shown:
                return plain_error, plain_error(shown), None
            _keep_code(getattr(result[1], "code", 1))
            return None, None, None

        return run_compiled_code

    def _dispatch(self, error: BaseException | None) -> str | None:
        """Fires once for an error and its consequences."""
        if error is None or isinstance(error, SystemExit | KeyboardInterrupt):
            return None
        if (
            isinstance(error, NameError)
            and (kept := self._dispatcher.refused_deletions.pop(str(error.name), None)) is not None
        ):
            error = refusal(kept, code=1)
        run: PipelineRun | None = getattr(xsh().lastcmd, "hookline", None)
        if isinstance(error, CalledProcessError) and run is not None and run.error_shown:
            return "" if run.refused is not None else None
        if getattr(error, "hookline_shown", False):
            return None
        with suppress(AttributeError, TypeError):
            error.hookline_shown = True  # type: ignore[attr-defined]  # a mark on the error itself
        return self._fire(error)

    def _fire(self, error: BaseException) -> str | None:
        run = self._pipelines.current()
        if run is not None:
            run.error_shown = True
        elif isinstance(error, CalledProcessError):
            run = getattr(xsh().lastcmd, "hookline", None)
        data = _error_data(error, run.text if run is not None else _failed_line(error, self._dispatcher.line))
        answer = self._dispatcher.fire("error.dispatch", data)
        if not answer.allowed:
            return ""
        if answer.changed:
            return _text(answer.data)
        return str(error) if is_refusal(error) else None

    def _late(self, applied: Applied) -> None:
        """The error is already shown: add what hooks found out."""
        text = _text({**applied.event.data, **applied.data})
        if text:
            self._dispatcher.notify(text)


def _error_data(error: BaseException, expression: str = "") -> dict[str, Any]:
    """An error for hooks: its type, expression, exit code, and xonsh's own suggestions."""
    text = str(error)[:_MAX_TEXT]
    found = _NOT_FOUND.match(text)
    data: dict[str, Any] = {
        "type": type(error).__name__, "expr": expression, "step": None, "code": 1, "problem": text,
        "suggestion": None, "suggest": [],
    }  # fmt: skip
    if found is not None:
        name = found["name"].splitlines()[0].rstrip("'\"")
        rest = text[found.end() :]
        data |= {"type": "command_not_found", "step": name, "code": 127, "problem": f"command not found: {name}"}
        data["suggest"] = [each["name"] for each in _SUGGESTED.finditer(rest)]
        data["expr"] = expression or name
    elif is_refusal(error):
        answer: ShellAnswer = private(error, "answer")
        data |= {"type": "denied", "code": getattr(error, "code", 1), "problem": answer.reason}
        data["suggestion"] = f"hook {answer.owner} refused it"
    elif isinstance(error, CalledProcessError):
        data["code"] = error.returncode
    return data


def _failed_line(error: BaseException, text: str) -> str:
    """Of several lines, the one with the error. What is typed has no file, but a name such as ``<stdin>``."""
    number = 0
    found = error.__traceback__
    while found is not None and not number:
        number = found.tb_lineno if found.tb_frame.f_code.co_filename.startswith("<") else 0
        found = found.tb_next
    if isinstance(error, SyntaxError) and not number and str(error.filename).startswith("<"):
        number = error.lineno or 0
    rows = text.splitlines()
    return rows[number - 1].strip() if 0 < number <= len(rows) else text


def _text(data: Any) -> str:
    suggestion = data.get("suggestion")
    names = [str(name) for name in data.get("suggest") or () if str(name).strip()]
    if not suggestion and names:
        suggestion = f"did you mean {' or '.join(names[:3])}?"
    problem = f"Problem: {data.get('problem')}"
    return lines(f"{problem}\nSuggestion: {suggestion}" if suggestion else problem)


def _keep_code(code: int) -> None:
    history = xsh().history
    if history is not None and history.last_cmd_rtn is None:
        history.last_cmd_rtn = code
