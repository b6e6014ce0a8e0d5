"""xonsh's own session object, and the refusal that xonsh understands. Imported only inside a shell."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hookline.shell.dispatcher import ShellAnswer

#: What a shell says of a command that was found and must not be run.
REFUSED = 126


def xsh() -> Any:
    """The session; untyped, as xonsh is."""
    return import_module("xonsh.built_ins").XSH


def xonsh_module(name: str) -> Any:
    return import_module(f"xonsh.{name}")


class _Refusal:
    """Made a subclass of xonsh's error on first use, so that xonsh shows its text and no traceback."""

    _kind: type[Exception] | None = None

    @classmethod
    def kind(cls) -> type[Exception]:
        if cls._kind is None:
            base = import_module("xonsh.tools").XonshError
            cls._kind = type("Denied", (base,), {"__doc__": "A hook refused.", "code": REFUSED, "answer": None})
        return cls._kind


def refusal(answer: ShellAnswer, *, code: int = REFUSED) -> Exception:
    """To be raised: the action does not happen, and the person is told why."""
    error = _Refusal.kind()(answer.problem)
    setattr(error, "code", code)  # noqa: B010  the class is made at run time
    setattr(error, "answer", answer)  # noqa: B010
    history = xsh().history
    if history is not None:
        history.last_cmd_rtn = code
    return error


def is_refusal(error: BaseException | None) -> bool:
    return error is not None and isinstance(error, _Refusal.kind())


def is_interactive() -> bool:
    env = xsh().env
    return bool(env is not None and env.get("XONSH_INTERACTIVE"))
