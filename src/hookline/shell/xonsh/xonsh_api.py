"""xonsh's session object, and an exception that xonsh shows without a traceback. Only used inside a shell."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from typing import Any, cast

from hookline.shell.dispatcher import ShellAnswer

#: The exit code of a command that was found and could not be run.
REFUSED = 126


def xsh() -> Any:
    """The session; xonsh has no types."""
    return import_module("xonsh.built_ins").XSH


def xonsh_module(name: str) -> Any:
    return import_module(f"xonsh.{name}")


@cache
def _refusal_type() -> type[Exception]:
    """A subclass of xonsh's error, made on first use."""
    base = import_module("xonsh.tools").XonshError
    return type("Denied", (base,), {"__doc__": "A hook refused.", "code": REFUSED, "answer": None})


def refusal(answer: ShellAnswer, *, code: int = REFUSED) -> Exception:
    """An exception to raise: the action does not happen, and the reason is shown."""
    error: Any = _refusal_type()(answer.problem)
    error.code, error.answer = code, answer
    history = xsh().history
    if history is not None:
        history.last_cmd_rtn = code
    return cast("Exception", error)


def is_refusal(error: BaseException | None) -> bool:
    return error is not None and isinstance(error, _refusal_type())


def private(owner: Any, name: str) -> Any:
    """A private attribute; it must be one of the patch points."""
    return getattr(owner, name)


def is_interactive() -> bool:
    env = xsh().env
    return bool(env is not None and env.get("XONSH_INTERACTIVE"))
