"""The child's environment and arguments as values that the kernel accepts.

One string may be 128 KiB long and all of them together take a share of the stack. What is longer goes into a
private file: the variable then holds the path of that file, and ``NAME_FILE`` holds it too, so that a hook can
tell a path from a value.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

from hookline.core._dataclass import dataclass

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from hookline.runners.workspace import Workspace

#: Linux's MAX_ARG_STRLEN, the closing NUL included. Other systems have no such limit, only the total.
STRING_LIMIT = 128 * 1024
#: The kernel counts a pointer per string; the rest of the margin is for what it adds itself.
_POINTER = 8
_MARGIN = 16 * 1024
#: Values shorter than this are not worth a file when the total is over the budget.
_WORTH_A_FILE = 1024
#: Nothing could be started with the path of a file in it.
_NEVER_BY_FILE = frozenset({b"PATH"})


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecArguments:
    """What is handed to the kernel, and what a person should know about it. Text where nothing had to be done."""

    argv: tuple[str, ...] | tuple[bytes, ...]
    environ: Mapping[str, str] | Mapping[bytes, bytes]
    notes: tuple[str, ...] = ()


def child_environ(caller: Mapping[str, str], unset: frozenset[str], laid_over: Mapping[str, str]) -> dict[str, str]:
    """The caller's whole environment, minus what does not apply, plus what the dialect sets."""
    kept = {name: value for name, value in caller.items() if name not in unset} if unset else caller
    return {**kept, **laid_over}


class EnvironCache:
    """A caller's environment as a plain dictionary. The process's own is copied only when it has changed: it keeps
    its variables encoded, and to decode them all costs more than everything else before a spawn."""

    __slots__ = ("_latest",)

    def __init__(self) -> None:
        #: The variables as the process keeps them, and as text; replaced together, as other threads read them.
        self._latest: tuple[object, Mapping[str, str]] = (None, {})

    def of(self, caller: Mapping[str, str]) -> Mapping[str, str]:
        kept = getattr(caller, "_data", None) if caller is os.environ else None
        if kept is None:
            return caller
        seen, text = self._latest
        if kept != seen:
            seen, text = dict(kept), dict(caller)
            self._latest = (seen, text)
        return text


def pass_on(argv: Sequence[str], environ: Mapping[str, str], workspace: Workspace, *, budget: int = 0) -> ExecArguments:
    """Move what the kernel would refuse into files of ``workspace``; replace what no process can be given."""
    encoding = sys.getfilesystemencoding()
    if _harmless(argv, environ, encoding, min(budget or STRING_LIMIT, STRING_LIMIT)):
        return ExecArguments(argv=tuple(argv), environ=environ)
    budget = budget or _arg_budget()
    notes: list[str] = []
    words = [_encoded(word, encoding, notes) for word in argv]
    variables = {_encoded(name, encoding, notes): _encoded(value, encoding, notes) for name, value in environ.items()}
    _without_nul(words, variables, notes)
    _by_file(words, variables, workspace, notes, budget)
    return ExecArguments(argv=tuple(words), environ=variables, notes=tuple(notes))


def _harmless(argv: Sequence[str], environ: Mapping[str, str], encoding: str, limit: int) -> bool:
    """One look at everything together, which spares looking at each of some hundred ordinary strings."""
    strings = [*argv, *environ, *environ.values()]
    try:
        together = "\0".join(strings)
        size = len(together.encode(encoding, "surrogateescape"))
    except (TypeError, UnicodeEncodeError):
        return False
    if size + len(strings) * (_POINTER + 2) > limit or together.count("\0") != len(strings) - 1:
        return False
    return "=" not in "".join(environ) and "" not in environ


def _arg_budget() -> int:
    """What all strings together may take. Linux stops at 6 MiB, even where the stack has no limit."""
    return max(STRING_LIMIT, min(int(os.sysconf("SC_ARG_MAX")), 6 << 20) - _MARGIN)


def _encoded(text: object, encoding: str, notes: list[str]) -> bytes:
    try:
        return str(text).encode(encoding, "surrogateescape")
    except UnicodeEncodeError:
        notes.append("characters that cannot be encoded were replaced in its environment or arguments")
        return str(text).encode(encoding, "replace")


def _without_nul(words: list[bytes], variables: dict[bytes, bytes], notes: list[str]) -> None:
    """A NUL ends a string for the kernel, so it becomes U+FFFD; a name that is none is left out."""
    for index, word in enumerate(words):
        if b"\0" in word:
            words[index] = word.replace(b"\0", "\ufffd".encode())
            notes.append(f"NUL bytes were replaced in argument {index}")
    for name, value in list(variables.items()):
        shown = name.decode(errors="replace")
        if not name or b"=" in name or b"\0" in name:
            del variables[name]
            notes.append(f"a variable cannot be called {shown!r}; it was left out")
        elif b"\0" in value:
            variables[name] = value.replace(b"\0", "\ufffd".encode())
            notes.append(f"NUL bytes were replaced in {shown}")


def _by_file(
    words: list[bytes], variables: dict[bytes, bytes], workspace: Workspace, notes: list[str], budget: int
) -> None:
    for index, word in enumerate(words):
        if len(word) >= STRING_LIMIT:
            words[index] = _file_argument(workspace, index, word, notes)
    for name, value in list(variables.items()):
        if len(name) + len(value) + 2 > STRING_LIMIT:
            _file_variable(workspace, variables, name, notes)
    while _size(words, variables) > budget:
        largest = max(variables.keys() - _NEVER_BY_FILE, key=lambda name: len(variables[name]), default=b"")
        longest = max(range(1, len(words)), key=lambda index: len(words[index]), default=0)
        if longest and len(words[longest]) > len(variables.get(largest, b"")):
            if len(words[longest]) < _WORTH_A_FILE:
                return  # let the kernel judge; the error says what to do
            words[longest] = _file_argument(workspace, longest, words[longest], notes)
        elif len(variables.get(largest, b"")) < _WORTH_A_FILE:
            return
        else:
            _file_variable(workspace, variables, largest, notes)


def _size(words: list[bytes], variables: dict[bytes, bytes]) -> int:
    strings = sum(map(len, words)) + sum(map(len, variables)) + sum(map(len, variables.values()))
    return strings + len(words) * (_POINTER + 1) + len(variables) * (_POINTER + 2)


def _file_argument(workspace: Workspace, index: int, word: bytes, notes: list[str]) -> bytes:
    path = workspace.file(f"arg{index}", word)
    notes.append(f"argument {index} is too long ({len(word)} bytes) and was passed as a file")
    return os.fsencode(path)


def _file_variable(workspace: Workspace, variables: dict[bytes, bytes], name: bytes, notes: list[str]) -> None:
    shown = name.decode(errors="replace")
    safe = "".join(letter if letter.isascii() and letter.isalnum() else "_" for letter in shown)[:100]
    path = os.fsencode(workspace.file(safe, variables[name]))
    notes.append(f"{shown} is too long ({len(variables[name])} bytes) and was passed as a file")
    variables[name] = path
    variables[name + b"_FILE"] = path
