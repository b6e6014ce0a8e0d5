"""env.change and config.change: environment variables and xonsh's own settings, before they change."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Any

from hookline.engine.executor import Applied
from hookline.shell.dispatcher import ShellAnswer, ShellDispatcher
from hookline.shell.xonsh.patch_points import Patches, refusal, xsh
from hookline.shell.xonsh.variables import to_json

#: Variables that the shell itself updates with every command.
_IGNORED = frozenset(
    {
        "LAST_RETURN_CODE", "__ALIAS_NAME", "__ALIAS_STACK", "__THREAD_LOCAL__", "XONSH_PROMPT_NEXT_CMD", "ARGS",
        "XONSH_PROMPT_NEXT_CMD_SUGGESTION", "PWD", "OLDPWD", "XONSH_SOURCE", "XONSH_INTERACTIVE", "_", "LINES", "COLUMNS",
    }
)  # fmt: skip

#: Names that xonsh registers as settings, but that every program reads.
_FOR_PROGRAMS = frozenset(
    {
        "PATH", "HOME", "TERM", "LANG", "SHELL", "USER", "LOGNAME", "EDITOR", "VISUAL", "PAGER", "BROWSER", "TMPDIR",
        "MANPATH", "CDPATH", "LD_LIBRARY_PATH", "PYTHONPATH", "DISPLAY", "TZ", "VIRTUAL_ENV", "HOSTNAME", "HOSTTYPE",
    }
)  # fmt: skip


#: xonsh's modules that set variables for the person, and modules between them and this one.
_FOR_PERSON = ("xonsh.aliases", "xonsh.foreign_shells", "xonsh.xonfig", "xonsh.xoreutils")
_BETWEEN = ("xonsh.environ", "hookline.", "_collections_abc", "collections", "contextlib")


class EnvironmentHooks:
    """Every change goes through two functions of xonsh; lists such as $PATH are also changed in place."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher

    def install(self, patches: Patches) -> None:
        patches.apply("env_set", self._around_set)
        patches.apply("env_del", self._around_del)
        patches.apply("env_swap", self._around_swap)
        for name in ("path_set", "path_del", "path_insert", "path_append", "path_prepend", "path_remove", "path_add"):
            patches.apply(name, self._around_list)
        self._dispatcher.on_late_answer("env.change", self._late)

    def _around_set(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def set_item(env: Any, key: Any, val: Any, thread_local: bool = False, *args: Any, **kwargs: Any) -> Any:
            if thread_local or not self._is_watched(env, key) or val is _deletion():
                return original(env, key, val, thread_local, *args, **kwargs)
            old = _now(env, key)
            if old is not None and type(old) is type(val) and old == val:
                return original(env, key, val, thread_local, *args, **kwargs)
            answer = self._check(env, key, "set", val, old)
            if "value" in answer.changed:
                val = answer.data["value"]
            self._dispatcher.environment_changed()
            return original(env, key, val, thread_local, *args, **kwargs)

        return set_item

    def _around_del(self, original: Callable[..., Any]) -> Callable[..., Any]:
        def del_item(env: Any, key: Any, thread_local: bool = False) -> Any:
            if not thread_local and self._is_watched(env, key) and key in env:
                self._check(env, key, "unset", None, _now(env, key))
                self._dispatcher.environment_changed()
            return original(env, key, thread_local)

        return del_item

    def _around_swap(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """``with ${...}.swap(X=1)``, by the person's code only: the shell swaps for each of its commands."""

        def swap(env: Any, other: Any = None, *args: Any, overlay: Any = None, **given: Any) -> Any:
            more = {} if overlay is None else {"overlay": overlay}
            values = {**dict(other or {}), **given}
            if not values or env is not xsh().env or self._dispatcher.busy or not _outside_xonsh():
                return original(env, other, *args, **more, **given)
            return self._swapped(env, values, lambda: original(env, values, *args, **more))

        return swap

    @contextmanager
    def _swapped(self, env: Any, values: dict[str, Any], swap: Callable[[], Any]) -> Generator[Any]:
        """A hook can refuse or change what is set; that it is put back is only reported."""
        before = {key: env.get(key) for key in values}
        for key, value in values.items():
            answer = self._check(env, key, "set", value, before[key])
            values[key] = answer.data["value"] if "value" in answer.changed else value
        self._dispatcher.environment_changed()
        try:
            with swap() as swapped:
                yield swapped
        finally:
            self._dispatcher.environment_changed()
            for key, old in before.items():
                op = "unset" if old is None else "set"
                self._dispatcher.fire(_event(env, key), _data(env, key, op, old, values[key]))

    def _around_list(self, original: Callable[..., Any]) -> Callable[..., Any]:
        """``$PATH.append(…)``: hooks get the list as it would be; they can deny it but not change it."""

        def change(path: Any, *args: Any, **kwargs: Any) -> Any:
            env = xsh().env
            key = getattr(path, "target_env_var", None)
            if (
                not key
                or env is None
                or not self._is_watched(env, key)
                or not self._dispatcher.has_hooks(_event(env, key))
            ):
                self._dispatcher.environment_changed()
                return original(path, *args, **kwargs)
            if self._dispatcher.busy:
                return original(path, *args, **kwargs)
            trial = type(path)(list(path))
            self._dispatcher.without_hooks(lambda: original(trial, *args, **kwargs))
            self._check(env, key, "set", trial, path)
            self._dispatcher.environment_changed()
            return self._dispatcher.without_hooks(lambda: original(path, *args, **kwargs))

        return change

    def _is_watched(self, env: Any, key: Any) -> bool:
        if env is not xsh().env or not isinstance(key, str) or key in _IGNORED or self._dispatcher.busy:
            return False
        return not self._dispatcher.has_hooks(_event(env, key)) or not _set_by_shell()

    def _check(self, env: Any, key: str, op: str, value: Any, old: Any) -> ShellAnswer:
        """Raises if a hook denies it."""
        answer = self._dispatcher.fire(_event(env, key), _data(env, key, op, value, old))
        if not answer.allowed:
            raise refusal(answer, code=1)
        return answer

    def _late(self, applied: Applied) -> None:
        env, name = xsh().env, applied.event.data.get("name")
        if env is not None and isinstance(name, str) and isinstance(applied.data.get("value"), str):
            self._dispatcher.without_hooks(lambda: env.__setitem__(name, applied.data["value"]))
            self._dispatcher.environment_changed()


def _caller() -> tuple[str, str]:
    """The module that changes the variable, and its file."""
    frame: Any = sys._getframe(1)  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]  there is no other way
    while frame is not None:
        name = str(frame.f_globals.get("__name__", ""))
        if not name.startswith(_BETWEEN):
            return name, frame.f_code.co_filename
        frame = frame.f_back
    return "", ""


def _set_by_shell() -> bool:
    """xonsh sets its own variables while it starts and runs; denying them would break it."""
    name, _ = _caller()
    return name.startswith("xonsh.") and not name.startswith(_FOR_PERSON)


def _outside_xonsh() -> bool:
    return not _caller()[0].startswith("xonsh.")


def _data(env: Any, key: str, op: str, value: Any, old: Any) -> dict[str, Any]:
    if _event(env, key) == "config.change":
        source = "file" if os.path.isfile(_caller()[1]) else "set"
        return {"key": key, "source": source, "op": op, "value": _json(value), "old": _json(old)}
    return {"name": key, "op": op, "value": _text(env, key, value), "old": _text(env, key, old)}


def _event(env: Any, key: str) -> str:
    known = getattr(env, "_vars", {})
    setting = key in known and key not in _FOR_PROGRAMS and not key.startswith("LC_")
    return "config.change" if setting else "env.change"


def _now(env: Any, key: str) -> Any:
    known = getattr(env, "_d", {})
    return known.get(key)


def _json(value: Any) -> Any:
    """Lists of directories as lists, everything else as JSON."""
    paths = getattr(value, "paths", None)
    return to_json(list(value)) if paths is not None and not isinstance(value, str) else to_json(value)


def _text(env: Any, key: str, value: Any) -> str | None:
    """As programs get it."""
    if value is None or isinstance(value, str):
        return value
    try:
        text = env.get_detyper(key, value)(value)
    except Exception:  # a type of the person's own
        text = None
    return text if isinstance(text, str) else str(_json(value))


def _deletion() -> Any:
    from importlib import import_module  # only inside xonsh

    return getattr(import_module("xonsh.environ"), "DELETE_VAR", _deletion)
