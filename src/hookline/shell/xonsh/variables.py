"""variable.set and variable.drop: the shell's names are in a dictionary that fires events.

CPython calls ``__setitem__`` of a namespace that is not an exact dict for every assignment at the top level. An
assignment by ``global`` inside a function bypasses it: that is the one gap.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from math import isfinite
from typing import Any

from hookline.engine.executor import Applied
from hookline.shell.dispatcher import ShellDispatcher
from hookline.shell.xonsh.patch_points import refusal, xonsh_module, xsh

#: Limits: characters of a text, items of a list, levels of nesting.
_MAX_TEXT, _MAX_ITEMS, _MAX_DEPTH = 65536, 1000, 4
_MAX_BITS = 1024


def to_json(value: Any, depth: int = 0) -> Any:
    """The value itself if JSON has it, else its text. Never raises, although a value's ``repr`` may."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int):  # Python refuses to write longer ones in decimal
        return value if value.bit_length() < _MAX_BITS else hex(value)[:_MAX_TEXT]
    if isinstance(value, float):
        return value if isfinite(value) else repr(value)
    if isinstance(value, str):
        return str(value) if len(value) <= _MAX_TEXT else value[:_MAX_TEXT]
    if depth < _MAX_DEPTH and isinstance(value, list | tuple):
        return [to_json(item, depth + 1) for item in value[:_MAX_ITEMS]]
    if depth < _MAX_DEPTH and isinstance(value, Mapping):
        return {str(key): to_json(item, depth + 1) for key, item in list(value.items())[:_MAX_ITEMS]}
    try:
        text = os.fspath(value) if isinstance(value, os.PathLike) else repr(value)
    except Exception:
        return f"<{type(value).__name__}>"
    return text[:_MAX_TEXT] if isinstance(text, str) else repr(text)[:_MAX_TEXT]


def argument_text(value: Any) -> str:
    """One word of a command line; a function is shown by its name."""
    if isinstance(value, str):
        return value
    if callable(value):
        return str(getattr(value, "__name__", "") or type(value).__name__)
    text = to_json(value)
    return text if isinstance(text, str) else str(text)


_MISSING = object()


class _Names(dict[str, Any]):
    """The shell's names. Functions defined earlier still use ``older``, so both are kept equal."""

    __slots__ = ("_dispatcher", "older")

    def __init__(self, dispatcher: ShellDispatcher, older: dict[str, Any]) -> None:
        super().__init__(older)
        self._dispatcher = dispatcher
        self.older = older

    def __setitem__(self, name: str, value: Any) -> None:
        dispatcher = self._dispatcher
        if dispatcher.has_hooks("variable.set") and _is_watched(name):
            old = self.get(name)
            data = {"name": name, "value": to_json(value), "old": to_json(old), "mutable": True, "scope": "session"}
            answer = dispatcher.fire("variable.set", data)
            if not answer.allowed:
                raise refusal(answer, code=1)
            if "value" in answer.changed:
                value = answer.data["value"]
        dict.__setitem__(self, name, value)
        self.older[name] = value

    def __delitem__(self, name: str) -> None:
        dispatcher = self._dispatcher
        if dispatcher.has_hooks("variable.drop") and _is_watched(name) and name in self:
            answer = dispatcher.fire("variable.drop", {"name": name, "value": to_json(self[name])})
            if not answer.allowed:
                # CPython replaces any exception by a NameError; the dispatcher keeps what to show.
                dispatcher.refused_deletions[name] = answer
                raise refusal(answer, code=1)
        if dict.pop(self, name, _MISSING) is _MISSING and name not in self.older:
            raise KeyError(name)
        self.older.pop(name, None)

    def __missing__(self, name: str) -> Any:
        """A name that an older function assigned by ``global``."""
        return self.older[name]

    def late(self, applied: Applied) -> None:
        """A late answer sets the variable if it still exists."""
        name = applied.event.data["name"]
        if "value" in applied.data and name in self:
            dict.__setitem__(self, name, applied.data["value"])
            self.older[name] = applied.data["value"]


def _is_watched(name: str) -> bool:
    return name != "_" and not (name.startswith("__") and name.endswith("__"))


class VariableHooks:
    """Replaces the shell's dictionary by ``_Names``, before the shell starts or while it runs."""

    def __init__(self, dispatcher: ShellDispatcher) -> None:
        self._dispatcher = dispatcher

    def install(self) -> None:
        """Now, and again when the shell has started: until then it may use its old dictionary."""
        self._replace()
        xonsh_module("events").events.on_post_init(lambda **_: self._replace())

    def _replace(self) -> None:
        session = xsh()
        names = session.ctx if isinstance(session.ctx, _Names) else None
        if names is None:
            names = _Names(self._dispatcher, session.ctx if session.ctx is not None else {})
            self._dispatcher.on_late_answer("variable.set", names.late)
            session.ctx = names
        dict.update(names, names.older)  # assigned there meanwhile
        self._in_the_shell(session, names)

    @staticmethod
    def _in_the_shell(session: Any, names: _Names) -> None:
        outer = getattr(session, "shell", None)
        inner = getattr(outer, "shell", None)
        for holder in (outer, inner, getattr(inner, "pt_completer", None)):
            if holder is not None and hasattr(holder, "ctx"):
                holder.ctx = names
